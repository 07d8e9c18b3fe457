import { afterEach, beforeEach, expect, test } from 'vitest';
import { useLightHttp } from '../../src/client/light-http.ts';

const platform = { Headers, Request, Response };
const light = () => ({
  Headers: globalThis.Headers,
  Request: globalThis.Request,
  Response: globalThis.Response,
});
type Http = typeof platform;

beforeEach(() => useLightHttp());
afterEach(() => {
  Object.assign(globalThis, platform);
});

/** What both give for the same use. */
const both = async (use: (http: Http) => unknown) => [await use(light()), await use(platform)] as const;

const USES: Record<string, (http: Http) => unknown> = {
  'header names without case, values without blanks around them': ({ Headers }) => {
    const headers = new Headers({ 'X-One': ' 1 ' });
    headers.append('x-one', '2');
    headers.set('Two', 'b');
    headers.delete('three');
    return [
      headers.get('X-ONE'),
      headers.has('two'),
      headers.get('three'),
      [...headers],
      [...headers.keys()],
    ];
  },
  'headers of headers and of pairs': ({ Headers }) => [
    ...new Headers(new Headers([['a', '1']])),
    ...new Headers([['b', '2']]),
  ],
  'the method and the address of a request': ({ Request }) => {
    const request = new Request('http://farelock.local/a/../b?c=é', { method: 'post', body: '{}' });
    return [request.method, request.url, request.headers.get('content-type'), request.bodyUsed];
  },
  'a body read as JSON, then not again': async ({ Request }) => {
    const request = new Request('http://farelock.local/', { method: 'POST', body: '{"a":["ü"]}' });
    const read = await request.json();
    return [read, request.bodyUsed, await request.text().catch((error: Error) => error.name)];
  },
  'a body read by its stream': async ({ Request }) => {
    const request = new Request('http://farelock.local/', {
      method: 'POST',
      body: new TextEncoder().encode('xyz'),
    });
    const reader = request.body?.getReader();
    const one = await reader?.read();
    return [[...(one?.value ?? [])], (await reader?.read())?.done, request.bodyUsed];
  },
  'a body read chunk by chunk': async ({ Request }) => {
    const request = new Request('http://farelock.local/', { method: 'POST', body: 'xyz' });
    const chunks: string[] = [];
    for await (const chunk of request.body ?? []) chunks.push(new TextDecoder().decode(chunk));
    return [chunks.join(''), request.bodyUsed];
  },
  'a request without a body': async ({ Request }) => {
    const request = new Request('http://farelock.local/');
    return [request.body, request.method, await request.text(), request.bodyUsed];
  },
  'a clone, read apart': async ({ Response }) => {
    const response = new Response('once', { status: 201, headers: { a: 'b' } });
    const copy = response.clone();
    return [await response.text(), await copy.text(), copy.status, copy.headers.get('a')];
  },
  'a response made of another one’s body': async ({ Response }) => {
    const first = new Response('text', { status: 404, headers: { 'X-A': '1' } });
    const second = new Response(first.body, first);
    return [second.status, second.ok, second.headers.get('x-a'), await second.text()];
  },
  'a response in JSON': async ({ Response }) => {
    const response = Response.json({ a: null }, { status: 402, headers: { 'Retry-After': '3' } });
    return [response.status, [...response.headers], await response.json()];
  },
  'a response in bytes': async ({ Response }) => [...new Uint8Array(await new Response('ab').arrayBuffer())],
};

test.each(Object.entries(USES))('%s: as the platform has it', async (_name, use) => {
  const [ours, theirs] = await both(use);
  expect(ours).toEqual(theirs);
});
