import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repeatedName } from '../../../src/kernel/domain/repeated-names.ts';

/** A message with one name twice is two messages, and is refused. */

test.each([
  ['{"a":1,"a":1}', 'a'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{"x":{"a":[{"b":1},{"b":1,"c":"}","b":2}]}}', 'x.a.1.b'],
  ['{"a":"\\\\","b":"\\"","a":2}', 'a'],
  ['{"":1,"":2}', ''],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  [' { "a" : [ ] , "a" : { } } ', 'a'],
])('%s gives %s twice', (text, path) => {
  expect(repeatedName(text)).toBe(path);
});

test.each([
  '{"a":"a","b":["a","a"],"c":{"a":1}}',
  '[{"a":1},{"a":1}]',
  '"a"',
  'null',
  '{}',
  '{"a":{"a":{"a":"\\",\\"a\\":"}}}',
])('%s gives none twice', (text) => {
  expect(repeatedName(text)).toBeNull();
});

test('no JSON that a program wrote is refused, however it is nested', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2), (value, space) => {
      expect(repeatedName(JSON.stringify(value, null, space))).toBeNull();
    }),
  );
});

test('a name that is put in once more at any depth is found', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.nat(8), (name, value, depth) => {
      const one = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
      expect(repeatedName(`${'{"x":['.repeat(depth)}{${one},${one}}${']}'.repeat(depth)}`)).toBe(
        `${'x.0.'.repeat(depth)}${name}`,
      );
    }),
  );
});
