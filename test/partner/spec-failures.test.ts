import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Failure, OPERATIONS, ORDER, openStack, pathOf, type Stack } from './stack.ts';

/** What nobody foresaw: a database whose tables are gone, while everything else stands. */

let stack: Stack;
beforeAll(async () => {
  stack = await openStack();
});
afterAll(() => stack.close());

const BODIES: Readonly<Record<string, object>> = {
  AddCustomerRequirement: { customerId: 'cus_demo_ana', data: 'SELFIE' },
  UpdateOrder: { orderId: 'rmp_demo_waiting', status: 'FUNDS_RECEIVED' },
  GetOrderDetails: { orderId: 'rmp_demo_waiting' },
  GetAvailablePartners: { ...ORDER, partnerId: undefined },
  CreateOrder: ORDER,
  SubmitCustomerData: { data: [{ email: { value: 'ana@example.org' } }] },
  AcceptTerms: { termsUrl: 'https://farelock.example/terms/2026-11-01' },
};

test('500 internal: a failure that nobody foresaw tells nothing of the inside, on every operation', async () => {
  await stack.breakDatabase();
  for (const service of ['partner', 'customer'] as const) {
    for (const operation of OPERATIONS[service]) {
      const answer = await stack.call<Failure>(pathOf(service, operation), BODIES[operation] ?? {}, {
        key: stack.key,
        token: stack.token,
      });
      expect([operation, answer.status, answer.body.code]).toEqual([operation, 500, 'internal']);
      expect(answer.body).toEqual({
        code: 'internal',
        message: expect.stringMatching(/\w/),
        detail: { reason: 'internal_error' },
      });
      expect(JSON.stringify(answer.body)).not.toMatch(/select|table|sqlite|stack|partner_/i);
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    }
  }
});
