import { BUDGET_WINDOW_MS } from '../../../client/base/index.ts';
import type { FlightsClient } from '../../../client/index.ts';
import { PaymentPlanned } from '../../../client/payer/index.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import type { SearchRequestInput } from '../../../wire/flights/index.ts';
import { usdcOf } from '../../session/index.ts';
import type { CommandContext } from '../../spec/index.ts';

/** The price of one search now, atomic USDC; 0 where the service asks for nothing. Asks, and pays nothing. */
export const searchPrice = (context: CommandContext, request: SearchRequestInput): Promise<bigint> =>
  callPrice(context, 'Asking what a search costs', (flights) => flights.search(request, { signal: context.signal }));

/** The price of any paid call, found in the same way. */
export async function callPrice(
  { terminal, session }: CommandContext,
  phase: string,
  call: (flights: FlightsClient) => Promise<unknown>,
): Promise<bigint> {
  terminal.phase(phase);
  try {
    await call(await session.flights({ plan: true }));
    return 0n;
  } catch (error) {
    if (error instanceof PaymentPlanned) return BigInt(error.plan.amount_atomic);
    throw error;
  }
}

/**
 * Checks that the wallet holds the whole total: half a grid is of no use.
 * @returns what was signed in the last 24 hours, atomic USDC
 * @throws Problem `insufficient_funds`
 */
export async function spentOrMissing({ session }: CommandContext, total: bigint): Promise<bigint> {
  if (total === 0n) return 0n;
  const [wallet, cluster, store] = [await session.wallet(), await session.cluster(), await session.store()];
  const { network, usdcAccount } = await usdcOf(cluster, wallet.address);
  const held = (await cluster.tokenBalance(usdcAccount)) ?? 0n;
  if (held >= total) return store.spent(wallet.address, network, BUDGET_WINDOW_MS);
  const detail = {
    wallet: wallet.address,
    needed: formatUsdc(total),
    held: formatUsdc(held),
    missing: formatUsdc(total - held),
  };
  throw problem('insufficient_funds', {
    message: (usdc) =>
      `The wallet holds ${usdc(held)} of the ${detail.needed} needed; ${usdc(detail.missing)} are missing.`,
    detail,
  });
}
