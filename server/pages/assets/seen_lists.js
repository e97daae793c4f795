// Reports the lists of this page, and the results that are opened, to a server that keeps events.

import { call } from './client.js';

// A list is seen when it stands that long, or when one of its results is opened: while a query is
// typed there is another list at each letter.
const kSeenMilliseconds = 2000;

// 128 random bits as base64url, like an id of the server.
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function shownList(id, query, { answer, results }) {
  return {
    impression_id: id, query, ranker: `${answer.model.name}/${answer.model.version}`,
    results: results.map(({ key, title, score }) => ({ document: key.document_id ?? key.id ?? '', title, score })),
  };
}

export class SeenLists {
  // `note` is shown while lists are reported.
  constructor(keepsEvents, note) {
    this.keepsEvents = keepsEvents;
    this.note = note;
    note.hidden = !keepsEvents;
    this.list = null;
    this.timer = 0;
  }

  // `ranking` has replaced the list before; null = no list that is reported.
  show(query, ranking) {
    clearTimeout(this.timer);
    this.list = ranking && this.keepsEvents ? { id: newId(), query, ranking, reported: false } : null;
    if (this.list) this.timer = setTimeout(() => this.report([]), kSeenMilliseconds);
  }

  open(ranking, place) {
    if (this.list?.ranking === ranking) this.report([{ impression_id: this.list.id, kind: 'click', position: place }]);
  }

  // With its first events the list itself; after a failure the next events bring it. A server that
  // refuses the caller's key gets no more.
  report(events) {
    clearTimeout(this.timer);
    const { list } = this;
    const { id, query, ranking, reported } = list;
    list.reported = true;
    call('/v1/events', { events, impressions: reported ? [] : [shownList(id, query, ranking)] }).catch((error) => {
      list.reported = reported;
      if (error.needsKey) { this.keepsEvents = false; this.note.hidden = true; }
    });
  }
}
