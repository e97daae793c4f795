// An example of what a schema of the OpenAPI document describes.

const kTexts = { 'date-time': '2026-01-31T12:00:00Z', byte: 'AAAAAA==' };
const kMaxDepth = 6;

// Reads the schema itself where `schema` refers to one.
export function resolve(api, schema = {}) {
  return schema.$ref ? api.components.schemas[schema.$ref.split('/').at(-1)] : schema;
}

export function exampleOf(api, schema, depth = 0) {
  const { oneOf, enum: values, type, properties = {}, items, format, contentEncoding } = resolve(api, schema);
  if (oneOf) return exampleOf(api, oneOf[0], depth);
  // The first value of an enum stands for none.
  if (values) return values[1] ?? values[0];
  const [kind] = [type].flat();
  if (kind === 'array') return depth < kMaxDepth ? [exampleOf(api, items, depth + 1)] : [];
  if (kind === 'object') {
    return depth < kMaxDepth ? Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, exampleOf(api, inner, depth + 1)])) : {};
  }
  if (kind === 'integer') return 1;
  if (kind === 'number') return 0.5;
  if (kind === 'boolean') return true;
  if ([type].flat().includes('integer')) return '1';
  return contentEncoding === 'base64' ? kTexts.byte : kTexts[format] ?? 'text';
}
