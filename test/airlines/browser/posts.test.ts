import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Visit } from '../../../src/airlines/browser/page/visit.ts';
import { cases, proofTest } from '../../proof-only.ts';
import { chromium, recipeFor, serve, visitTo } from './site.ts';

/** What a page sends once it has a card: counted before it leaves, and never the same form twice. */

const PAGE = `<h1>Till</h1>
  <form id="form" method="post" action="/paid"><input name="card" value="1"><button>Pay</button></form>
  <iframe src="/frame"></iframe>`;

describe.runIf(chromium)('from the moment that a page has a card', () => {
  let site: Awaited<ReturnType<typeof serve>>;
  let visit: Visit;
  const sockets: Duplex[] = [];
  beforeAll(async () => {
    site = await serve({
      '/': PAGE,
      '/frame': '<form method="post" action="/framed"><button>Go</button></form>',
      '/worker.js': () => ({
        body: `onmessage = () => fetch('/by-worker', { method: 'POST', body: 'x' })`,
        headers: { 'content-type': 'text/javascript' },
      }),
      '/socket.js': () => ({
        body: `const socket = new WebSocket('ws://' + location.host + '/socket');
          socket.onopen = () => postMessage('open');
          onmessage = () => socket.send('by a worker')`,
        headers: { 'content-type': 'text/javascript' },
      }),
      '/paid': '<h1>Paid</h1>',
    });
    site.server.on('upgrade', ({ headers }, socket) => {
      sockets.push(socket);
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      const answer = ['HTTP/1.1 101 Switching Protocols', 'upgrade: websocket', 'connection: upgrade'];
      socket.write([...answer, `sec-websocket-accept: ${accept}`, '', ''].join('\r\n'));
      socket.on('data', () => site.asked.push('POST through a socket'));
      socket.on('error', () => undefined);
    });
    visit = await visitTo(recipeFor(site.base), 60_000);
  });
  afterAll(async () => {
    await visit?.close();
    for (const one of sockets) one.destroy();
    await site?.close();
  });
  beforeEach(async () => {
    // A form of the test before may be on its way.
    const opened = () =>
      visit.page.goto(site.base, { timeout: 5_000 }).then(
        () => true,
        () => false,
      );
    await expect.poll(opened, { timeout: 60_000 }).toBe(true);
    site.asked.length = 0;
  });
  const posts = () => site.asked.filter((one) => one.startsWith('POST'));

  const WAYS = cases<[what: string, script: string, address: string]>(
    [
      ['a worker', `new Worker('/worker.js').postMessage(1)`, '/by-worker'],
      ['a form in a frame', `frames[0].document.forms[0].submit()`, '/framed'],
    ],
    [
      ['a request of a script', `fetch('/tracked', { method: 'POST' })`, '/tracked'],
      ['a beacon', `navigator.sendBeacon('/beacon', 'x')`, '/beacon'],
      ['a form', `document.getElementById('form').submit()`, '/paid'],
      ['another method', `fetch('/put', { method: 'PUT' })`, '/put'],
    ],
  );
  test.each(WAYS)('%s is seen', async (_what, script, address) => {
    visit.posts.begin([]);
    await visit.page.evaluate(script);
    await expect.poll(() => [...visit.posts.sent]).toContain(address);
  });

  test('what the recipe calls harmless is not counted, and only as a whole', async () => {
    const before = visit.posts.sent.size;
    visit.posts.begin(['/tick', '/basket/\\d+']);
    await visit.page.evaluate(`Promise.all(['/tick?x=1', '/basket/7', '/tick/pay'].map((path) =>
      fetch(path, { method: 'POST' })))`);
    expect([...visit.posts.sent].slice(before)).toEqual(['/tick/pay']);
  });

  test('a form is sent once: neither a reload nor a script sends it again, and the page stays as it is', async () => {
    visit.posts.begin([]);
    const { page } = visit;
    const send = `document.getElementById('form').submit()`;
    await page.evaluate(`document.querySelector('[name=card]').value = 'reloaded'`);
    await page.evaluate(send);
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    await page.evaluate('location.reload()');
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
    expect(await page.getByRole('heading').textContent()).toBe('Paid');
    await page.goto(site.base);
    await page.evaluate(`document.querySelector('[name=card]').value = 'reloaded'`);
    await page.evaluate(send);
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
    expect(posts()).toEqual(['POST /paid']);
    // Another form is another one.
    await page.evaluate(`document.querySelector('[name=card]').value = 'other'`);
    await page.evaluate(send);
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    expect(posts()).toHaveLength(2);
  });

  test('what sends past everything that could see it is not there, in no frame', async () => {
    const names = ['SharedWorker', 'fetchLater', 'RTCPeerConnection', 'WebTransport'];
    const there = `${JSON.stringify(names)}.filter((name) => name in globalThis)`;
    const fresh = `document.body.appendChild(document.createElement('iframe')).contentWindow`;
    expect(await visit.page.evaluate(there)).toEqual([]);
    expect(await visit.page.frames()[1]?.evaluate(there)).toEqual([]);
    expect(await visit.page.evaluate(there.replace('globalThis', fresh))).toEqual([]);
  });

  proofTest(
    'a page that was stopped sends nothing more, through open sockets neither, and can still be read',
    async () => {
      const other = await visitTo(recipeFor(site.base));
      const { page, posts: watched } = other;
      await page.goto(site.base);
      await page.evaluate(`Promise.all([
      new Promise((open) => { socket = new WebSocket('ws://' + location.host + '/socket'); socket.onopen = open; }),
      new Promise((open) => { worker = new Worker('/socket.js'); worker.onmessage = open; })])`);
      watched.begin([]);
      watched.stop();
      await watched.cut();
      site.asked.length = 0;
      await page
        .evaluate(`socket.send('by the page'); worker.postMessage(1);
        fetch('/late', { method: 'POST' }).catch(() => document.getElementById('form').submit())`)
        .catch(() => undefined);
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
      expect(await page.getByRole('heading').textContent()).toBe('Till');
      expect(posts()).toEqual([]);
      await other.close();
    },
  );
});
