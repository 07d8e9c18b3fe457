import type { PaymentReceipt } from '../../../client/base/index.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { usdcOf } from '../../session/index.ts';
import { same, type Walk } from './walk.ts';

const TOP_UP = 1_000_000_000n;

/** Atomic USDC of the wallet that pays. */
export async function balanceOf({ context: { session } }: Walk): Promise<bigint> {
  const [cluster, wallet] = await Promise.all([session.cluster(), session.wallet()]);
  const { usdcAccount } = await usdcOf(cluster, wallet.address);
  return (await cluster.tokenBalance(usdcAccount)) ?? 0n;
}

/**
 * A call that is paid for: what it cost is noted, and it is tried again when there was too little play money and some
 * more was taken.
 */
export async function paidCall<T extends { readonly payment: PaymentReceipt | null }>(
  walk: Walk,
  what: string,
  call: () => Promise<T>,
): Promise<T> {
  const { trip } = walk;
  for (;;) {
    try {
      const answer = await call();
      if (answer.payment) trip.paid.push({ amount: answer.payment.amount, what });
      return answer;
    } catch (error) {
      if (!isProblem(error, 'insufficient_funds') || !(await topUp(walk, TOP_UP))) throw error;
    }
  }
}

/**
 * Offers play money where there is some to be had: true when it was taken. `least` is what is missing (atomic).
 * Never on a real cluster.
 */
export async function topUp(walk: Walk, least: bigint): Promise<boolean> {
  const { session, terminal } = walk.context;
  if (!session.isEmbedded) return false;
  const { faucet } = await session.openLocal();
  if (!faucet) return false;
  const amount = least > TOP_UP ? ((least + TOP_UP - 1n) / TOP_UP) * TOP_UP : TOP_UP;
  terminal.settle();
  const balance = formatUsdc(await balanceOf(walk));
  const answer = await walk.ask.choose({
    message: `The wallet has ${balance} USDC: not enough. Get play money from the embedded cluster?`,
    lines: [
      { name: `Get ${formatUsdc(amount)} USDC of play money`, value: true },
      { name: 'No', value: false },
    ],
  });
  if (answer.kind === 'back' || !answer.value) return false;
  await faucet.airdropUsdc((await session.wallet()).address, amount);
  terminal.done(`${formatUsdc(amount)} USDC of play money`);
  same(walk, `farelock wallet airdrop --usdc ${formatUsdc(amount)}`);
  return true;
}
