import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANA, BANK, BO, type Failure, type OrderAnswer, openStack, PIX, type Stack } from './stack.ts';

/** One customer at the operator's desk: change, block, export and erase, each in the audit trail. */

let stack: Stack;
beforeAll(async () => {
  stack = await openStack();
});
afterAll(() => stack.close());

interface Exported {
  readonly customer: { readonly country: string; readonly blocked_at: string | null };
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly orders: readonly { readonly id: string; readonly history: readonly object[] }[];
}
interface Erased {
  readonly erased: { readonly data: readonly string[] };
  readonly kept: readonly { readonly kind: string; readonly id: string; readonly why: string }[];
}

const of = <T>(customerId: string, act: string, body: object = {}) =>
  stack.operator<T>(`customers/${customerId}${act}`, body);
const audited = async (action: string) =>
  (await stack.operator<{ entries: { action: string; detail: Record<string, unknown> }[] }>('audit')).entries.filter(
    (entry) => entry.action === action,
  );

test('a change of country and links is audited with before and after, and holds at once', async () => {
  const token = await stack.issueToken(BO);
  const asked = () => stack.customer('GetOnboardingRequirements', {}, { token });
  expect((await asked()).status).toBe(200);
  const changed = await of(BO, '', { country: 'MEX', partner_ids: [PIX] });
  expect(changed).toMatchObject({ country: 'MEX', partner_ids: [PIX] });
  expect((await asked()).status).toBe(401);
  const [entry] = await audited('customer.change');
  expect(entry?.detail).toMatchObject({
    before: { country: 'DEU', partner_ids: expect.arrayContaining([BANK]) },
    after: { country: 'MEX', partner_ids: [PIX] },
  });
  await of(BO, '', { country: 'DEU', partner_ids: [BANK, PIX] });
  expect((await asked()).status).toBe(200);
  await expect(of(BO, '', { partner_ids: ['par_nobody'] })).rejects.toThrow('404');
  await expect(of('cus_nobody', '', { country: 'DEU' })).rejects.toThrow('404');
});

test('a customer who is blocked can do nothing, and the orders go on', async () => {
  const order = await stack.order();
  await of(ANA, '/block');
  const refused = await stack.customer<Failure>('GetOnboardingRequirements', {});
  expect([refused.status, refused.body.code, refused.body.detail?.reason]).toEqual([
    403,
    'permission_denied',
    'customer_blocked',
  ]);
  const update = { orderId: order.id, status: 'FUNDS_RECEIVED' };
  expect((await stack.partner<OrderAnswer>('UpdateOrder', update)).body.order.status).toBe('FUNDS_RECEIVED');
  await of(ANA, '/unblock');
  expect((await stack.customer('GetOnboardingRequirements', {})).status).toBe(200);
  expect([await audited('customer.block'), await audited('customer.unblock')]).toMatchObject([
    [{ detail: { before: { blocked: false }, after: { blocked: true } } }],
    [{ detail: { before: { blocked: true }, after: { blocked: false } } }],
  ]);
});

test('an export has what is kept of the customer; an erasure leaves what the books must keep, and names it', async () => {
  const made = await stack.created({ fromAmount: '60.0024' });
  const before = await of<Exported>(ANA, '/export');
  expect(before.customer).toMatchObject({ country: 'BRA', blocked_at: null });
  expect(JSON.stringify(before.data)).toContain('ana@example.com');
  expect(JSON.stringify(before.data)).toContain('Exemplo');
  expect(before.orders.find(({ id }) => id === made.id)?.history).toHaveLength(1);
  const { erased, kept } = await of<Erased>(ANA, '/erase');
  expect(kept).toContainEqual({ kind: 'order', id: made.id, why: 'open_order', until: null });
  const used = [made.customerPaymentDetailsDataId, made.customerWalletDataId];
  for (const id of used) expect(kept).toContainEqual(expect.objectContaining({ kind: 'data', id }));
  for (const id of used) expect(erased.data).not.toContain(id);
  expect(erased.data.length).toBeGreaterThan(10);
  const after = await of<Exported>(ANA, '/export');
  expect(after.data.map(({ data_id: id }) => id).sort()).toEqual([...used].sort());
  expect(JSON.stringify(after.data)).not.toContain('Exemplo');
  // The token is gone, the trail is not; and it names ids alone.
  expect((await stack.customer('GetOnboardingRequirements', {})).status).toBe(401);
  const [entry] = await audited('customer.erase');
  expect(entry?.detail).toMatchObject({ erased: { data: erased.data } });
  expect(JSON.stringify(entry)).not.toContain('Exemplo');
  const key = readFileSync(join(stack.home, 'keys', 'operator.key'), 'utf8').trim();
  const without = await stack.call(`/operator/customers/${ANA}/export`, {}, { key: null });
  expect([without.status, key.length > 0]).toEqual([401, true]);
});
