import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { worldDatabase } from '../flights/world-database.ts';
import { callerOf, ORDER, type OrderAnswer, openStack, REDIRECT, type Stack } from '../partner/stack.ts';
import { hearStatements } from './plans.ts';

const HOUR_MS = 3_600_000;
let statements: ReturnType<typeof hearStatements>;
let stack: Stack;
beforeAll(async () => {
  statements = hearStatements();
  const home = mkdtempSync(join(tmpdir(), 'farelock-plans-'));
  const database = await worldDatabase.next(home);
  stack = await openStack({
    home,
    ticketingMs: 0,
    lowcostMs: 0,
    ...(database.startsWith('postgres:') && { databaseUrl: database }),
  });
});
afterAll(async () => {
  await stack.close();
  statements.stop();
});

test('no statement of the partner service, nor of the embedded chain, looks through a table that grows', async () => {
  const { partner, customer, operator, call, service, clock } = stack;
  const laid = await stack.order();
  statements.listen(true);
  const first = await partner<{ nextPageToken?: string }>('GetOrders', { pageSize: 1 });
  await partner('GetOrders', { pageSize: 1, pageToken: first.body.nextPageToken });
  await partner('GetOrders', { status: 'ORDER_STATUS_AWAITING_FUNDS' });
  await partner('GetOrderDetails', { orderId: laid.id, includeHistory: true });
  await partner(
    'UpdateOrder',
    { orderId: laid.id, status: 'FUNDS_RECEIVED', sourceTransactionId: 'tx' },
    { headers: { 'Idempotency-Key': 'once' } },
  );
  await partner('AddCustomerRequirement', { customerId: 'cus_demo_ana', dataType: 'NAME' });
  await customer('GetOnboardingRequirements', {});
  await customer('GetAvailablePartners', { ...ORDER, amount: '60' });
  await customer('SubmitCustomerData', { data: [{ email: { value: 'ana@example.org' } }] });
  await customer('CreateOrder', ORDER, { headers: { 'Idempotency-Key': 'twice' } });
  await customer<OrderAnswer>('CreateOrder', { ...ORDER, partnerId: REDIRECT });
  for (const path of ['partners', 'partner-keys', 'customers', 'attestations', 'outbound'])
    await call(`/operator/${path}`, undefined, { method: 'GET' });
  await operator('attestations');
  const rpc = callerOf(service.fetch);
  const wallet = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
  const ask = (method: string, ...params: unknown[]) => rpc('/rpc', { jsonrpc: '2.0', id: 1, method, params });
  const airdrop = await ask('requestAirdrop', wallet, 1_000_000_000);
  const signature = String((airdrop.body as { result: string }).result);
  await ask('farelock_airdropUsdc', wallet, 5_000_000);
  await ask('getSignaturesForAddress', wallet, { limit: 10, before: signature });
  await ask('getSignatureStatuses', [signature]);
  await ask('getTransaction', signature, 'json');
  await ask('getTransactionCount');
  await ask('getEpochInfo');
  const mint = service.cluster.network && '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
  await ask('getTokenLargestAccounts', mint);
  await ask('getTokenAccountsByOwner', wallet, { mint });
  await ask('getProgramAccounts', '11111111111111111111111111111111');
  for (let round = 0; round < 6; round++) {
    clock.advance(7 * HOUR_MS);
    await service.worker.runDue();
  }
  clock.advance(400 * 24 * HOUR_MS);
  await service.worker.runDue();
  statements.listen(false);
  expect(statements.count()).toBeGreaterThan(60);
  expect(await statements.slow()).toEqual([]);
}, 120_000);
