import { describe, expect, test } from 'vitest';
import { HttpResponse, headerOf, json, lowerCase, readBody } from '../../src/kernel/http.ts';

async function* endless(chunk: number) {
  for (;;) yield new Uint8Array(chunk);
}

describe('headers', () => {
  test('are found however their names are written, without blanks around their values', () => {
    const headers = lowerCase({ 'X-One': ' 1 ', two: 'b' });
    expect(headers).toEqual({ 'x-one': '1', two: 'b' });
    expect(['X-ONE', 'x-one', 'Two', 'three'].map((name) => headerOf({ headers }, name))).toEqual([
      '1',
      '1',
      'b',
      null,
    ]);
  });

  test('of an answer are in lower case too', () => {
    const answer = new HttpResponse(402, null, { 'Retry-After': '3' });
    expect([answer.status, answer.body, answer.headers]).toEqual([402, null, { 'retry-after': '3' }]);
  });
});

test('an answer in JSON says so, unless it says something else', () => {
  const answer = json({ a: null }, 201, { ETag: '"1"' });
  expect([answer.status, answer.body]).toEqual([201, '{"a":null}']);
  expect(answer.headers).toEqual({ 'content-type': 'application/json', etag: '"1"' });
});

describe('a body', () => {
  test('of text or of chunks is read to its end, as often as it is text', async () => {
    const text = 'ü€';
    for (let time = 0; time < 2; time++)
      expect(new TextDecoder().decode((await readBody(text, 5)) ?? undefined)).toBe(text);
    expect(await readBody('', 0)).toEqual(new Uint8Array());
    const chunks = new Response('xyz').body;
    expect(chunks && (await readBody(chunks, 3))).toEqual(new TextEncoder().encode('xyz'));
  });

  test('is given up as soon as it is too large', async () => {
    expect(await readBody('ü€', 4)).toBeNull();
    expect(await readBody(endless(600), 1_000)).toBeNull();
  });

  test('that ends too early is an error', async () => {
    async function* torn() {
      yield new Uint8Array(3);
      throw new Error('gone');
    }
    await expect(readBody(torn(), 10)).rejects.toThrow('gone');
  });
});
