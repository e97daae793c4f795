// One call as a program in other languages. Texts, hosts and URLs are quoted for the language: a
// host name may hold ; $ ( and quotes.
//
// A call is {path, request, needsKey, fromFile}: with `fromFile` the program reads the request from
// request.json. A server is {origin, grpc}: the URL of its pages and HOST:PORT of gRPC.

export const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const kMethods = {
  '/v1/rank': 'RankingService/Rank',
  '/v1/search': 'CatalogService/SearchDocuments',
  '/v1/explain': 'RankingService/Explain',
};
export const kFile = 'request.json';
// Longer requests are read from the file.
export const kMaxInlineCharacters = 600;

function curl({ path, request, needsKey, fromFile }, { origin }) {
  const key = needsKey ? ` \\\n  -H "Authorization: Bearer $SEMRANK_API_KEY"` : '';
  return `curl ${shell(origin + path)}${key} \\\n  -d ${fromFile ? `@${kFile}` : shell(JSON.stringify(request))}`;
}

function javaScript({ path, request, needsKey, fromFile }, { origin }) {
  const key = needsKey ? ', Authorization: `Bearer ${process.env.SEMRANK_API_KEY}`' : '';
  const body = fromFile ? `readFileSync('${kFile}')` : `JSON.stringify(${JSON.stringify(request)})`;
  return `${fromFile ? "import { readFileSync } from 'node:fs';\n\n" : ''}const response = await fetch(${JSON.stringify(origin + path)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json'${key} },
  body: ${body},
});
console.log(await response.json());`;
}

// JSON's texts and numbers are Python's too; 64-bit numbers are texts in JSON.
function pythonValue(name, value) {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (name === 'ids') return `[${value.join(', ')}]`;
  if (name === 'id' || name === 'version') return String(value);
  return Array.isArray(value) ? `[${value.map((item) => JSON.stringify(item)).join(', ')}]` : JSON.stringify(value);
}

function pythonArguments({ model, id, ...request }) {
  const named = { ...request, ...(id !== undefined ? { document_id: id } : {}), ...(model ? { model: model.name, version: model.version } : {}) };
  return Object.entries(named).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}=${pythonValue(id !== undefined && name === 'document_id' ? 'id' : name, value)}`);
}

// What the program does with the response.
const kPythonPrints = {
  '/v1/rank': '    for title, score in zip(response.titles, response.scores):\n        print(f"{score:.4f}", title)',
  '/v1/search': '    for hit in response.hits:\n        print(f"{hit.score:.4f}", hit.title)',
  '/v1/explain': '    for word in response.title_words:\n        print(f"{word.contribution:+.3f}", word.word)',
};

// The clients refuse plain text to another machine unless it is asked for. They also know unix: and
// dns:///, but the address here has the host of the page.
const isLoopback = (grpc) => /^(127(\.\d{1,3}){3}|\[::1\]|localhost):/.test(grpc);

// The package reads SEMRANK_API_KEY by itself.
function python({ path, request, needsKey, fromFile }, { origin, grpc }) {
  const plain = isLoopback(grpc) ? '' : ', plain_text=True';
  const tls = origin.startsWith('https:') ? ', tls_ca=open("ca.pem", "rb").read()' : plain;
  const key = needsKey ? '# The API key comes from the environment: SEMRANK_API_KEY.\n' : '';
  const lists = ['titles', 'ids', 'document_ids'];
  const fields = pythonArguments(Object.fromEntries(Object.entries(request).filter(([name]) => !fromFile || !lists.includes(name))));
  const read = fromFile ? `with open("${kFile}") as file:\n    request = json.load(file)\n` : '';
  if (fromFile) {
    for (const name of lists.filter((list) => request[list]?.length)) {
      fields.push(`${name}=${name === 'ids' ? '[int(number) for number in request["ids"]]' : `request["${name}"]`}`);
    }
  }
  return `${fromFile ? 'import json\n\n' : ''}import semrank

${key}${read}with semrank.Client(${JSON.stringify(grpc)}${tls}) as client:
    response = client.${path.slice('/v1/'.length)}(${fields.join(', ')})
${kPythonPrints[path]}`;
}

function grpcurl({ path, request, needsKey, fromFile }, { origin, grpc }) {
  const key = needsKey ? ` -H "authorization: Bearer $SEMRANK_API_KEY"` : '';
  const plain = origin.startsWith('https:') ? '' : ' -plaintext';
  return `grpcurl${plain}${key} -d ${fromFile ? '@' : shell(JSON.stringify(request))} \\
  ${shell(grpc)} semrank.v1.${kMethods[path]}${fromFile ? ` < ${kFile}` : ''}`;
}

export const kLanguages = { curl, JavaScript: javaScript, Python: python, gRPC: grpcurl };
