import type { EscrowAccount } from '../../../escrow/terms.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import type { Paint } from '../../../terminal/paint.ts';
import { fieldLines, tableLines } from '../../../terminal/table.ts';
import { utcTime } from '../../../terminal/times.ts';
import type { Intent } from '../../../wire/flights/index.ts';
import type { Account } from './accounts.ts';

/** Wallet, treasury, vault and supply before and after a journey, and what the difference was for. */
export function trailLines(
  before: Account,
  after: Account,
  spent: { readonly ticket: number; readonly fees: bigint },
  paint: Paint,
): string[] {
  const amount = (value: bigint | null, none: string) => (value === null ? none : formatUsdc(value));
  // Before: there was none yet. After: there is none any more.
  const change = (from: bigint | null, to: bigint | null) => {
    const difference = (to ?? 0n) - (from ?? 0n);
    return difference > 0n ? `+${formatUsdc(difference)}` : formatUsdc(difference);
  };
  const row = (name: string, from: bigint | null, to: bigint | null, none: string) => [
    name,
    amount(from, '–'),
    amount(to, none),
    change(from, to),
  ];
  return [
    ...tableLines(
      [
        { title: 'USDC' },
        { title: 'Before', align: 'right' },
        { title: 'After', align: 'right' },
        { title: 'Change', align: 'right' },
      ],
      [
        row('Wallet', before.wallet, after.wallet, '–'),
        row('Treasury', before.treasury, after.treasury, '–'),
        row('Escrow vault', before.vault, after.vault, 'closed'),
        row('Total supply', before.supply, after.supply, '–'),
      ],
      paint.dim,
    ),
    '',
    `Ticket ${formatUsdc(BigInt(spent.ticket))}, calls ${formatUsdc(spent.fees)}; network fees were the operator's.`,
  ];
}

/** How the escrow ended, by the cluster's own account of it. */
export function escrowEndLines(escrow: EscrowAccount | null, intent: Intent, paint: Paint): string[] {
  if (!escrow) return [`Escrow ${intent.escrow.address}: no longer on the cluster.`];
  const seconds = (value: bigint) =>
    value === 0n ? null : utcTime(new Date(Number(value) * 1000).toISOString());
  return fieldLines(
    [
      ['Escrow', escrow.address],
      ['State on chain', paint.bold(escrow.state)],
      ['Amount', `${formatUsdc(escrow.amount)} USDC`],
      ['Opened', seconds(escrow.openedAt)],
      ['Ended', seconds(escrow.endedAt)],
      ['Capture', intent.capture_tx_hash],
      ['Refund', intent.refund_tx_hash],
    ],
    paint.dim,
  );
}
