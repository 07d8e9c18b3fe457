import { expect, test } from 'vitest';
import { createAllowance } from '../../../src/cli/mcp/allowance.ts';
import { spendingPolicy } from '../../../src/cli/paying/spending.ts';
import { openTerminal } from '../../../src/cli/screen/terminal.ts';
import { EMBEDDED } from '../../../src/cli/session/profile.ts';
import type { PaymentRequest } from '../../../src/client/types.ts';
import { SOLANA_NETWORKS } from '../../../src/solana/cluster.ts';

/** What a person agreed to by starting the server is not what a person at a terminal agrees to. */

const BOOKING: PaymentRequest = {
  resource: 'POST /air/book',
  host: 'flights.example',
  amount: 90_000_000n,
  asset: 'mint',
  payTo: 'vault',
  network: SOLANA_NETWORKS.mainnet,
  cap: null,
  kind: 'booking',
};

async function policyFor(allowed: bigint | null) {
  const stream = { isTTY: false, columns: null, write: () => undefined };
  const terminal = await openTerminal(
    { stdout: stream, stderr: stream, stdin: { isTTY: false, text: async () => '' } },
    { json: true, fields: null, quiet: false, verbose: false, input: false, color: false },
    {},
    () => {
      throw new Error('nobody is there');
    },
  );
  return spendingPolicy(
    {
      globals: { yes: true, input: false, color: false },
      terminal,
      ...(allowed !== null && { allowance: createAllowance({ total: allowed, perPayment: null }) }),
    },
    EMBEDDED,
    { amount: BOOKING.amount, isTyped: false },
  );
}

test('an escrow that could not be verified is not paid for a program, as --yes would', async () => {
  const warned = { ...BOOKING, warning: 'The escrow cannot be verified.' };
  await expect((await policyFor(100_000_000n)).approve?.(warned)).rejects.toMatchObject({
    code: 'escrow_mismatch',
  });
});

test('real money needs an allowance, or --max-payment, beside --yes', async () => {
  expect(await (await policyFor(100_000_000n)).approve?.(BOOKING)).toBe(true);
  expect(await (await policyFor(null)).approve?.(BOOKING)).toBe(false);
  expect(await (await policyFor(100_000_000n)).approve?.({ ...BOOKING, amount: 91_000_000n })).toBe(false);
});
