import fc from 'fast-check';
import { brokenText, contentType, mutated, namedHeader, oddHeaders, pathId, payment, textOf } from './broken.ts';
import type { Operation, Schema } from './document.ts';
import { validOf } from './valid.ts';

/** One request. `$names` in it stand for what only the running world knows. */
export interface Ask {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** Requests to every operation of the document: good ones, and ones with something wrong somewhere. */
export function requestsOf(
  operations: readonly Operation[],
  parts: Readonly<Record<string, Schema>>,
): fc.Arbitrary<Ask> {
  // Those with a body have more that can be wrong.
  return fc.oneof(
    ...operations.map((operation) => ({
      arbitrary: requestOf(operation, parts),
      weight: operation.body && !operation.operator ? 12 : operation.path.includes('{') ? 3 : 1,
    })),
  );
}

const operatorKey = fc.oneof(
  { arbitrary: fc.constant('Bearer $key'), weight: 5 },
  fc.constantFrom(null, 'Bearer x', 'Basic $key', 'Bearer', 'bearer $key'),
);

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];

function requestOf(operation: Operation, parts: Readonly<Record<string, Schema>>): fc.Arbitrary<Ask> {
  const names = operation.headers.filter((name) => name !== 'PAYMENT-SIGNATURE');
  const method = fc.oneof({ arbitrary: fc.constant(operation.method), weight: 20 }, fc.constantFrom(...METHODS));
  return fc
    .record({
      method,
      path: pathOf(operation.path),
      query: fc.oneof(
        { arbitrary: fc.constant(''), weight: 20 },
        fc.constantFrom('?', '?a', '?limit=1', '?__proto__=1', '?%zz=1', '?a=1&a=2'),
      ),
      type: operation.body ? contentType : fc.constant(null),
      body: operation.body ? bodyOf(operation.body, parts) : fc.constant(null),
      payment,
      named: fc.tuple(...names.map(namedHeader)),
      // A switch that is turned would change what every other call answers.
      key: operation.operator && operation.name !== 'POST /operator/switches' ? operatorKey : fc.constant(null),
      odd: oddHeaders,
    })
    .map((made) => ({
      operation,
      method: made.method,
      path: `${made.path}${made.query}`,
      headers: {
        ...made.odd,
        ...(made.key === null ? {} : { authorization: made.key }),
        ...(made.type === null ? {} : { 'content-type': made.type }),
        ...(made.payment === null ? {} : { 'payment-signature': made.payment }),
        ...Object.fromEntries(
          names.flatMap((name, index) => {
            const value = made.named[index];
            return value === null || value === undefined ? [] : [[name.toLowerCase(), value]];
          }),
        ),
      },
      body: made.method === 'GET' || made.method === 'HEAD' ? null : made.body,
    }));
}

function pathOf(path: string): fc.Arbitrary<string> {
  const pieces = path.split('/').map((piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    return name === undefined ? fc.constant(piece) : pathId(name);
  });
  return fc.tuple(...pieces).map((made) => made.join('/'));
}

function bodyOf(
  schema: Schema,
  parts: Readonly<Record<string, Schema>>,
): fc.Arbitrary<string | Uint8Array<ArrayBuffer>> {
  const good = validOf(schema, parts);
  return fc.oneof(
    { arbitrary: good.map(textOf), weight: 3 },
    { arbitrary: mutated(good).map(textOf), weight: 8 },
    { arbitrary: mutated(mutated(good)).map(textOf), weight: 2 },
    { arbitrary: brokenText(good.map(textOf)), weight: 2 },
  );
}
