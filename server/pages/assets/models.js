// The models that the server can answer with now.

import { call } from './client.js';

export const modelId = ({ name, version }) => `${name}@${version}`;
export const modelName = ({ name, version }) => `${name} version ${version}`;
// The API's ModelRef of an id; undefined = the default model.
export function modelRef(id) {
  const at = id.lastIndexOf('@');
  return at < 0 ? undefined : { name: id.slice(0, at), version: id.slice(at + 1) };
}

// The default model comes first. A version that is retiring answers no new call.
export async function listServed() {
  const { models = [] } = await call('/v1/list_models', {});
  return models.filter(({ state }) => state === 'MODEL_STATE_SERVING')
    .sort((a, b) => (b.is_default === true) - (a.is_default === true));
}
