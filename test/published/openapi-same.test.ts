import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { defaultOptions } from '../../src/flights/base/ports.ts';
import { openapiDocument } from '../../src/flights/openapi.ts';
import { openStack } from '../partner/stack.ts';

/**
 * The descriptions of both services mean what they meant when they were written by hand (fixtures/): the same paths,
 * parameters, requests and answers. Only refusals that were never listed may have come to it, and bounds of queries.
 */

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Fields = { [name: string]: Json };

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: Json | undefined): Fields => (isFields(value) ? value : {});

function earlier(name: string): Fields {
  const file = resolve(import.meta.dirname, `fixtures/${name}-openapi.json.gz`);
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Fields;
}

/** Without references and without an order: what two documents with the same meaning have in common. */
function meaning(document: Fields, value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => meaning(document, one)).sort(byText);
  if (!isFields(value)) return value;
  if (typeof value.$ref === 'string') {
    const { $ref, ...beside } = value;
    const found = ['components', 'schemas', $ref.split('/').at(-1) ?? ''].reduce<Json | undefined>(
      (at, name) => fieldsOf(at)[name],
      document,
    );
    if (found === undefined) throw new Error(`${$ref} leads nowhere`);
    return { ...fieldsOf(meaning(document, found)), ...fieldsOf(meaning(document, beside)) };
  }
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, meaning(document, inner)]),
  );
}

const byText = (a: Json, b: Json): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** The codes under `code` or `detail.reason` of a refusal; null for every other answer. */
function codesOf(response: Json): string[] | null {
  const text = JSON.stringify(response);
  const listed = /"reason":\{"enum":(\[[^\]]*\])/.exec(text) ?? /"code":\{"enum":(\[[^\]]*\])/.exec(text);
  return listed?.[1] ? (JSON.parse(listed[1]) as string[]) : null;
}

const BOUNDS = ['default', 'maximum', 'maxLength', 'minLength', 'type'];

/** A parameter without the bounds that were not told before. */
function parameterMeaning(document: Fields, parameter: Json): Json {
  const { schema, ...rest } = fieldsOf(parameter);
  const isQuery = rest.in === 'query';
  const told = Object.entries(fieldsOf(schema)).filter(([name]) => !isQuery || !BOUNDS.includes(name));
  return meaning(document, { ...rest, schema: Object.fromEntries(told) });
}

function operationMeaning(document: Fields, operation: Json): Fields {
  // A summary is words, and not meaning.
  const { parameters, responses, requestBody, summary: _summary, ...rest } = fieldsOf(operation);
  // How large a body may be was told of one service only; that every answer has an id, of all but two.
  const { description: _limit, ...body } = fieldsOf(requestBody);
  const answers = Object.entries(fieldsOf(responses)).filter(([, one]) => codesOf(one) === null);
  return {
    ...fieldsOf(meaning(document, rest)),
    parameters: ((parameters ?? []) as Json[]).map((one) => parameterMeaning(document, one)).sort(byText),
    body: meaning(document, body),
    answers: Object.fromEntries(
      answers.map(([status, one]) => {
        const { headers, ...answer } = fieldsOf(meaning(document, one));
        const { 'X-Request-Id': _id, ...others } = fieldsOf(headers);
        return [status, { ...answer, headers: others }];
      }),
    ),
    refusals: Object.entries(fieldsOf(responses)).flatMap(([status, one]) =>
      (codesOf(one) ?? []).map((code) => `${status} ${code}`),
    ),
  };
}

function operationsOf(document: Fields): Record<string, Fields> {
  return Object.fromEntries(
    Object.entries(fieldsOf(document.paths)).flatMap(([path, methods]) =>
      Object.entries(fieldsOf(methods)).map(([method, one]) => [`${method} ${path}`, operationMeaning(document, one)]),
    ),
  );
}

/** Operations that have got fields or answers since: what they had is all there. */
const GROWN = [
  'get /air/intents/{intent_id}',
  'get /air/orders/{order_id}',
  'get /health',
  'get /operator/attestations/{attestation_id}',
  'get /operator/refund-requests',
  'get /operator/refund-requests/{request_id}',
  'get /operator/stuck',
  'get /operator/stuck/{id}',
  'get /ready',
  'post /air/book',
  'post /air/intents',
  'post /air/offer-details',
  'post /air/refund-requests',
  'post /air/search',
  'post /air/search-updates',
  'post /farelock.core.v1.customer.Service/CreateOrder',
  'post /farelock.core.v1.partner.Service/GetOrderDetails',
  'post /operator/attestations/{attestation_id}/decide',
  'post /operator/customers',
  'post /operator/partners',
  'post /operator/refund-requests/{request_id}/approve',
  'post /operator/refund-requests/{request_id}/claim',
  'post /operator/refund-requests/{request_id}/note',
  'post /operator/refund-requests/{request_id}/reject',
  'post /operator/refund-requests/{request_id}/release',
  'post /operator/stuck/{id}/resolve',
];

/** What may have changed beside `name`: words, more directions of an offer, and a search that names them in `slices`. */
const SINCE: Readonly<Record<string, (now: Fields) => boolean>> = {
  summary: () => true,
  maxItems: ({ maxItems }) => maxItems === 4,
  required: ({ properties }) => isFields(properties) && 'slices' in properties && 'child_ages' in properties,
};

/** True when the later meaning has everything of the earlier one; of answers to choose from, one does. */
function contains(now: Json | undefined, was: Json): boolean {
  if (isFields(now) && Array.isArray(now.anyOf) && !(isFields(was) && was.anyOf)) {
    return now.anyOf.some((one) => contains(one, was));
  }
  if (Array.isArray(was)) {
    return Array.isArray(now) && was.every((one) => now.some((later) => contains(later, one)));
  }
  if (!isFields(was)) return now === was;
  return isFields(now) && Object.entries(was).every(([name, one]) => SINCE[name]?.(now) || contains(now[name], one));
}

/** Calls that came since. */
const CALLS_SINCE = [
  'get /operator/stuck/{id}/evidence',
  'post /operator/customers/{customer_id}',
  'post /operator/customers/{customer_id}/block',
  'post /operator/customers/{customer_id}/erase',
  'post /operator/customers/{customer_id}/export',
  'post /operator/customers/{customer_id}/unblock',
  'post /operator/partners/{partner_id}/rotate-secret',
  'post /webhooks/airline',
];

/** Fails where the two differ in anything but refusals that are new. @returns these, by operation */
function added(before: Fields, after: Fields): Record<string, string[]> {
  const [was, is] = [operationsOf(before), operationsOf(after)];
  expect(
    Object.keys(is)
      .filter((name) => !CALLS_SINCE.includes(name))
      .sort(),
  ).toEqual(Object.keys(was).sort());
  const listed: Record<string, string[]> = {};
  for (const [name, { refusals: told, ...rest }] of Object.entries(was)) {
    const { refusals, ...now } = fieldsOf(is[name]);
    if (GROWN.includes(name)) expect(contains(now, rest), `${name} lacks what it had`).toBe(true);
    else expect(now, name).toEqual(rest);
    expect(refusals, name).toEqual(expect.arrayContaining(told as string[]));
    const more = (refusals as string[]).filter((one) => !(told as string[]).includes(one));
    if (more.length > 0) listed[name] = more;
  }
  for (const part of ['info', 'openapi', 'servers', 'jsonSchemaDialect']) expect(after[part]).toEqual(before[part]);
  expect(fieldsOf(after.components).securitySchemes).toEqual(fieldsOf(before.components).securitySchemes);
  return listed;
}

const STORAGE = [
  'not_ready',
  'storage_full',
  'storage_failed',
  'storage_not_writable',
  'storage_locked',
  'storage_damaged',
  'too_many_open_files',
];
const PAID = ['/air/search', '/air/offer-details', '/air/book', '/air/refund-requests', '/air/orders/{order_id}'];
const APPROVES = ['/operator/refund-requests/{request_id}/approve', '/operator/stuck/{id}/resolve'];
const REJECTS = '/operator/refund-requests/{request_id}/reject';
const NO_DATABASE = ['/health', '/ready', '/openapi.json'];

/** Refusals that were always answered and never listed, and of which operations. */
const LISTED_NOW: Record<string, (method: string, path: string) => boolean> = {
  ...Object.fromEntries(
    STORAGE.map((code) => [`503 ${code}`, (_method: string, path: string) => !NO_DATABASE.includes(path)]),
  ),
  // Of a process that lacks a key that sealed a field, or that signs for an escrow.
  '503 operator_key_unusable': (_, path) => !NO_DATABASE.includes(path),
  '400 body_incomplete': (method) => method === 'post',
  // Of providers that can be asked for airports which are not known here.
  '400 airport_unknown': (_, path) => path === '/air/search',
  // Of the airline, which is asked for its quote before an approval since, and for the order before a rejection.
  '502 provider_failed': (_, path) => [...APPROVES, REJECTS].includes(path),
  '503 upstream_rate_limited': (_, path) => [...APPROVES, REJECTS].includes(path),
  // Of fares that are locked with bags.
  '409 bags_unavailable': (_, path) => ['/air/intents', '/air/book'].includes(path),
  // Of fares that are locked with seats, and of offers that are shown with them.
  '409 seat_unavailable': (_, path) => ['/air/intents', '/air/book'].includes(path),
  '409 seats_unavailable': (_, path) => ['/air/intents', '/air/book', '/air/offer-details'].includes(path),
  // Of a request about some of the travellers.
  '409 passenger_refund_unavailable': (_, path) => path === '/air/refund-requests',
  '409 passenger_needed': (_, path) => path === '/air/refund-requests',
  '409 ticket_already_cancelled': (_, path) => path === REJECTS,
  '409 plan_changed': (_, path) => APPROVES.includes(path),
  '503 operator_funds_low': (_, path) => PAID.includes(path),
  // Of a client that names its payments.
  '409 payment_id_taken': (_, path) => [...PAID, '/air/intents'].includes(path),
  // Of an escrow program that was replaced while the service runs.
  '503 escrow_program_changed': (_, path) => ['/air/intents', '/air/book'].includes(path),
  // Of a database that was put back: nothing that moves money is done until it is reconciled.
  // Of a fare for children too.
  '400 passenger_age_mismatch': (_, path) => path === '/air/book',
  '503 database_behind': (method, path) =>
    method === 'post' && /^\/air\/(intents|book|refund-requests)$|\/(approve|reject|resolve)$/.test(path),
  // Of the support code, which an intent may be asked for with since.
  '403 support_code_mismatch': (_, path) => path === '/air/intents/{intent_id}',
  '429 too_many_attempts': (_, path) => path === '/air/intents/{intent_id}',
  // Of ramp orders that ended, and of those that their platform may have taken.
  '429 too_many_locks': (_, path) => path === '/air/intents',
  '400 order_outside_offer': (_, path) => path.endsWith('/CreateOrder'),
  '403 customer_blocked': (_, path) => path.includes('.customer.Service/'),
  '409 order_finished': (_, path) => path.endsWith('/UpdateOrder'),
  '503 order_in_doubt': (_, path) => /\/(?:UpdateOrder|GetOrderDetails)$/.test(path),
};

const unforeseen = (listed: Record<string, string[]>): string[] =>
  Object.entries(listed).flatMap(([operation, refusals]) => {
    const [method = '', path = ''] = operation.split(' ');
    return refusals.flatMap((one) => (LISTED_NOW[one]?.(method, path) ? [] : [`${operation}: ${one}`]));
  });

test('/openapi.json of the flight service', async () => {
  const now = JSON.parse(JSON.stringify(await openapiDocument(defaultOptions))) as Fields;
  expect(unforeseen(added(earlier('flights'), now))).toEqual([]);
});

/** People with one name have it in either field: neither is required since. */
const oneNameIsEnough = (document: Fields): Fields =>
  JSON.parse(JSON.stringify(document), (_, value: Json) => {
    if (!isFields(value) || !isFields(value.properties) || !('firstName' in value.properties)) return value;
    const { required: _required, ...rest } = value;
    return rest;
  }) as Fields;

test('/partner/openapi.json', async () => {
  const stack = await openStack();
  const { body } = await stack.call<Fields>('/partner/openapi.json', undefined, { method: 'GET' });
  await stack.close();
  expect(unforeseen(added(oneNameIsEnough(earlier('partner')), body))).toEqual([]);
});
