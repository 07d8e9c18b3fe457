import { formatUsdc } from '../../../kernel/money.ts';
import type { ChainStatus } from '../../paying/from-chain.ts';
import type { Screen } from '../../screen/terminal.ts';
import { wrap } from '../text.ts';
import { utcTime } from '../times.ts';

const usdc = (atomic: number): string => `${formatUsdc(BigInt(atomic))} USDC`;

/** Where the money of an intent is, by its escrow alone. */
export function fromChainLines({ intent_id, escrow }: ChainStatus, { paint, width }: Screen): string[] {
  return [
    `${paint.bold(intent_id)}  ${paint.accent(`escrow ${escrow.state}`)}`,
    ...said(escrow).flatMap((line) => wrap(line, width)),
    paint.dim(`escrow ${escrow.address}`),
  ];
}

function said(escrow: ChainStatus['escrow']): string[] {
  const { state, held, amount, refund_wallet: owner, refund_after: refundAfter, ended_at: endedAt } = escrow;
  const at = endedAt === null ? '' : ` on ${utcTime(endedAt)}`;
  const late = held > 0 ? [`${usdc(held)} arrived after that; anyone can send it to ${owner}.`] : [];
  if (state === 'captured')
    return [`${usdc(amount)} went to the operator${at}: the ticket was issued.`, ...late];
  if (state === 'refunded') return [`The money went back to ${owner}${at}.`, ...late];
  if (held === 0) return [`It holds nothing of ${usdc(amount)}: nothing was paid.`];
  return [
    `It holds ${usdc(held)} of ${usdc(amount)}.`,
    `If no ticket is issued, the money goes to ${owner}. From ${utcTime(refundAfter)} anyone can send it there.`,
  ];
}
