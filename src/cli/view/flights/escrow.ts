import { formatUsdc } from '../../../kernel/money.ts';
import type { Screen } from '../../../terminal/terminal.ts';
import { wrap } from '../../../terminal/text.ts';
import { utcTime } from '../../../terminal/times.ts';

/** The escrow of an intent by the cluster alone, in the form that --json prints. */
export interface ChainStatus {
  readonly intent_id: string;
  readonly source: 'chain';
  readonly escrow: {
    readonly state: 'open' | 'captured' | 'refunded';
    readonly address: string;
    readonly vault_address: string;
    readonly mint: string;
    readonly program_id: string;
    /** Atomic units: what the escrow is for, and what its vault holds now. */
    readonly amount: number;
    readonly held: number;
    readonly refund_wallet: string;
    /** RFC 3339, UTC: from then on anyone can refund. */
    readonly refund_after: string;
    readonly ended_at: string | null;
  };
}

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
  if (held === 0) return [`It holds none of the ${usdc(amount)}: nothing was paid.`];
  return [
    `It holds ${usdc(held)} of ${usdc(amount)}.`,
    `If no ticket is issued, the money goes to ${owner}. From ${utcTime(refundAfter)} anyone can send it there.`,
  ];
}
