import { expect, test } from 'vitest';
import { connectProblemOf, createPartnerClient } from '../../src/client/partner.ts';
import { type HttpRequest, json } from '../../src/kernel/http.ts';
import { isProblem } from '../../src/kernel/problems.ts';

/** What a Connect answer stands for, of ours and of other deployments. */

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => ({ status, headers, body });

test.each<[string, number, number]>([
  ['invalid_argument', 400, 2],
  ['failed_precondition', 400, 5],
  ['unauthenticated', 401, 4],
  ['permission_denied', 403, 4],
  ['not_found', 404, 3],
  ['aborted', 409, 5],
  ['already_exists', 409, 5],
  ['resource_exhausted', 429, 7],
  ['internal', 500, 1],
  ['unavailable', 503, 7],
])('%s (%i) without a reason of ours is exit %i', (code, status, exit) => {
  const problem = connectProblemOf(answer(status, { code, message: 'Said so.' }));
  expect([problem.kind.exit, problem.message]).toEqual([exit, 'Said so.']);
  expect(connectProblemOf(answer(status, 'a proxy wrote this')).kind.exit).toBe(
    code === 'failed_precondition' ? 2 : exit,
  );
});

test('a reason of ours is kept with its facts, and the fix is not said twice', () => {
  const problem = connectProblemOf(
    answer(409, {
      code: 'aborted',
      message: 'The order cannot move from its current status to that one. Choose one of the allowed statuses.',
      detail: { reason: 'invalid_status_transition', from: 'REFUNDED', to: 'ERROR', allowed: [] },
    }),
  );
  expect(problem).toMatchObject({
    code: 'invalid_status_transition',
    message: 'The order cannot go from REFUNDED to ERROR.',
    fix: 'REFUNDED is final.',
    detail: { from: 'REFUNDED', to: 'ERROR', allowed: [] },
  });
});

test('Retry-After is kept', () => {
  const problem = connectProblemOf(answer(503, { code: 'unavailable' }, { 'retry-after': '7' }));
  expect([problem.retryAfter, problem.kind.retryable]).toEqual([7, true]);
});

test('another deployment may leave out what is empty, and what is ours', async () => {
  const seen: HttpRequest[] = [];
  const client = createPartnerClient({
    baseUrl: 'http://other.test',
    serviceName: 'acme',
    apiKey: async () => 'key',
    customerToken: async () => 'token',
    fetch: async (request) => {
      seen.push(request);
      return json({});
    },
  });
  expect(await client.orders({})).toEqual({ orders: [], totalCount: 0 });
  expect(await client.requirements()).toEqual({ requirements: [], complianceStatus: 'COMPLIANCE_STATUS_PENDING' });
  expect(seen.map(({ url }) => url)).toEqual([
    'http://other.test/acme.core.v1.partner.Service/GetOrders',
    'http://other.test/acme.core.v1.customer.Service/GetOnboardingRequirements',
  ]);
  // A customer's token goes along only where a customer is concerned.
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer token']);
});

test.each([[[]], [{}], [{ order: { id: 1 } }]])(
  'the answer %j to a call about an order is an unexpected one',
  async (body) => {
    const client = createPartnerClient({
      baseUrl: 'http://other.test',
      serviceName: 'acme',
      apiKey: async () => 'key',
      customerToken: async () => 'token',
      fetch: async () => json(body),
    });
    const error: unknown = await client.order('o1').catch((thrown: unknown) => thrown);
    expect(isProblem(error, 'unexpected_answer')).toBe(true);
  },
);
