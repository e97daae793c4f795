// What the address bar holds of the playground: the query, the models and what is ranked.

// Models are "name@version" (models.js); '' is the default model, or none to compare with.
export function readUrl() {
  const fields = new URLSearchParams(location.search);
  return {
    query: fields.get('q') ?? '', model: fields.get('model') ?? '', other: fields.get('with') ?? '',
    source: fields.get('rank') === 'titles' ? 'titles' : 'catalog',
  };
}

// `replace` changes the entry of the history instead of adding one.
export function writeUrl({ query, model, other, source }, replace) {
  const fields = Object.entries({ q: query, model, with: other, rank: source === 'titles' ? source : '' }).filter(([, value]) => value);
  const url = fields.length ? `/?${new URLSearchParams(fields)}` : '/';
  if (url === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', url);
}
