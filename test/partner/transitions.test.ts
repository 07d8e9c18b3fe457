import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allowedFrom, FUNDED, ORDER_STATUSES, TRANSITIONS } from '../../src/kernel/domain/order-moves.ts';

/** The table of CONTRACT, section 11, as it is printed there. */
const CONTRACT = `
| AWAITING_FUNDS | FUNDS_RECEIVED, IN_REVIEW, CANCELED, ERROR |
| IN_REVIEW | AWAITING_FUNDS (no funds yet), FUNDS_RECEIVED, ERROR, REFUNDING (funds), CANCELED (no funds) |
| FUNDS_RECEIVED | IN_REVIEW, PAYMENT_SUBMITTED, PAYMENT_PROCESSED, REFUNDING, ERROR |
| PAYMENT_SUBMITTED | PAYMENT_PROCESSED, REFUNDING, ERROR |
| PAYMENT_PROCESSED | REFUNDING (returnDetails required) |
| REFUNDING | REFUNDED, ERROR |
| CANCELED | REFUNDING (late funds; sourceTransactionId required) |
| ERROR | IN_REVIEW, FUNDS_RECEIVED (funds), REFUNDING (funds), CANCELED (no funds) |
| REFUNDED | none |`;

const GUARDS: Record<string, string> = {
  'no funds yet': 'no_funds',
  'no funds': 'no_funds',
  funds: 'funds',
  'returnDetails required': 'return_details',
  'late funds; sourceTransactionId required': 'source_transaction',
};

describe('the transition table', () => {
  test('is the one of the contract: every status, every step, every guard', () => {
    const read = CONTRACT.trim()
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, from = '', steps = '']) => {
        const to = [...steps.matchAll(/([A-Z_]{4,})(?: \(([^)]+)\))?/g)].map(
          ([, status = '', guard]) => [status, guard === undefined ? [] : [GUARDS[guard]]] as const,
        );
        return [from, Object.fromEntries(to)] as const;
      });
    expect(Object.fromEntries(read)).toEqual(TRANSITIONS);
    expect(Object.keys(TRANSITIONS).sort()).toEqual([...ORDER_STATUSES].sort());
  });

  test('is the one of the page for partners', () => {
    const page = readFileSync(resolve(import.meta.dirname, '../../docs/partner-service.md'), 'utf8');
    for (const from of ORDER_STATUSES) {
      const row = new RegExp(`^\\| ${from} \\| (.*) \\|$`, 'm').exec(page)?.[1] ?? 'no row';
      const named = row.match(/\b[A-Z][A-Z_]{4,}\b/g) ?? [];
      expect([from, named.sort()]).toEqual([from, Object.keys(TRANSITIONS[from]).sort()]);
    }
  });

  test('funds decide where the table says so', () => {
    expect(allowedFrom({ status: 'ERROR', funds: false })).toEqual(['IN_REVIEW', 'CANCELED']);
    expect(allowedFrom({ status: 'ERROR', funds: true })).toEqual(['IN_REVIEW', 'FUNDS_RECEIVED', 'REFUNDING']);
    expect(allowedFrom({ status: 'IN_REVIEW', funds: false })).not.toContain('REFUNDING');
    expect(allowedFrom({ status: 'IN_REVIEW', funds: true })).not.toContain('CANCELED');
    expect(allowedFrom({ status: 'REFUNDED', funds: true })).toEqual([]);
  });

  test('an order that was funded is never called back to await funds, nor canceled', () => {
    for (const status of FUNDED) {
      expect(allowedFrom({ status, funds: true })).not.toContain('AWAITING_FUNDS');
      expect(allowedFrom({ status, funds: true })).not.toContain('CANCELED');
    }
  });
});
