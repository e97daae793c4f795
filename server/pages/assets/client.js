// Calls of the server's JSON API, and elements of a page.

const kKey = 'semrank_key';

// What went wrong with a call. `status` is that of HTTP; 0 = no answer came.
export class CallError extends Error {
  constructor(status, message, reason) {
    super(message);
    this.status = status;
    this.reason = reason;
  }

  // Whether another key may help.
  get needsKey() { return this.status === 401 || this.reason === 'ROLE_REQUIRED'; }
}

// The key is kept in this tab's session storage.
export const storedKey = () => sessionStorage.getItem(kKey) ?? '';
export const storeKey = (key) => (key ? sessionStorage.setItem(kKey, key) : sessionStorage.removeItem(kKey));

// The response to any request, with the stored key.
export async function send(path, { headers = {}, ...options } = {}) {
  const authorization = storedKey() ? { Authorization: `Bearer ${storedKey()}` } : {};
  try {
    return await fetch(path, { ...options, headers: { ...headers, ...authorization } });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new CallError(0, `${location.host} does not answer.`);
  }
}

export async function call(path, request, signal) {
  const answer = await send(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request), signal });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new CallError(answer.status, `${location.host} answers: ${body.message ?? `HTTP ${answer.status}`}`, body.details?.[0]?.reason);
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

// Browsers give the clipboard to pages of https and localhost only; all else
// has the older command, which copies what is selected.
export async function copyText(from) {
  try {
    await navigator.clipboard.writeText(from.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(from);
    return document.execCommand('copy');
  }
}
