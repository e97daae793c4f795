// Calls of the server's JSON API. The key is kept in this tab's session storage.

const kKey = 'semrank_key';

export class CallError extends Error {
  constructor(status, message, reason) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export const storedKey = () => sessionStorage.getItem(kKey) ?? '';
export const storeKey = (key) => sessionStorage.setItem(kKey, key);

export async function call(path, request, signal) {
  const headers = { 'Content-Type': 'application/json' };
  if (storedKey()) headers.Authorization = `Bearer ${storedKey()}`;
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(request), signal });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new CallError(answer.status, body.message ?? `HTTP ${answer.status}`, body.details?.[0]?.reason);
  }
  return body;
}

// An element with attributes, children (elements or texts) and no markup of others.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export const milliseconds = (nanos) => `${(Number(nanos ?? 0) / 1e6).toFixed(Number(nanos) < 1e6 ? 3 : 1)} ms`;
