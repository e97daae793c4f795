// This program is compiled and not run. It shows what a program in TypeScript
// may write.
import {RankResponse, SemrankClient, SemrankError, vectors} from 'semrank';

export async function use(client: SemrankClient): Promise<number[]> {
  const response: RankResponse = await client.rank({query: 'q', titles: ['t'], ids: [7, '18446744073709551615'], parts: 'semantic'});
  const version: string | undefined = response.model?.version;
  await client.getModel({name: 'shop', version});
  const healthy: boolean = await client.checkHealth();
  console.log(healthy);
  for await (const {index, error} of client.rankStream([{query: 'q', titles: ['t']}])) console.log(index, error?.reason);
  for await (const part of client.embedStream(['t'], {side: 'document'})) console.log(part.firstText + 1, vectors(part)[0].length);
  const [document] = await client.get([7n, 'name']);
  // @ts-expect-error: it may be null
  console.log(document.title);
  const {impressionId} = await client.search({query: 'q', impression: {user: 'u'}, interleave: {b: {name: 'shop'}}});
  const {accepted} = await client.reportEvents({events: [{impressionId, kind: 'click', position: 1}]});
  console.log(accepted + 1, response.impressionId);
  // @ts-expect-error: the kind is missing
  await client.reportEvents({events: [{impressionId}]});
  // @ts-expect-error: no such side
  await client.embed({texts: ['t'], side: 'title'});
  // @ts-expect-error: the query is missing
  await client.search({topK: 3});
  // @ts-expect-error: no such field
  await client.rank({query: 'q', title: 't'}).catch((error: SemrankError) => error.reason);
  return response.scores;
}
declare const console: {log(...values: unknown[]): void};
