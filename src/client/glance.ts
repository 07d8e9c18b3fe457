import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openSecrets } from '../kernel/secrets.ts';
import { readRows } from '../store/libsql/index.ts';

/** Reads the client's database for shell completion, without opening it for writing. */

const MOST = 50;

export function glanceAtIntents(home: string) {
  const rows = readRows(
    join(home, 'client.db'),
    `select intent_id, summary from intents where created_at_ms > 0 order by created_at_ms desc limit ${MOST}`,
  );
  return rows.map(({ intent_id, summary }) => {
    const notes = (typeof summary === 'string' ? JSON.parse(summary) : {}) as Record<string, unknown>;
    const text = (name: string) => (typeof notes[name] === 'string' ? notes[name] : null);
    return {
      intentId: String(intent_id),
      orderId: text('order_id'),
      status: text('status'),
      route: text('route'),
      departureDate: text('departure_date'),
      /** `LIS-BER 2026-12-20, booked`, as far as it is known. */
      words: [[text('route'), text('departure_date')].filter(Boolean).join(' '), text('status')]
        .filter(Boolean)
        .join(', '),
    };
  });
}

export function glanceAtPayments(home: string): { readonly paymentId: string; readonly words: string }[] {
  const rows = readRows(
    join(home, 'client.db'),
    `select payment_id, resource, state from payments where created_at_ms > 0
      order by created_at_ms desc limit ${MOST}`,
  );
  return rows.map((row) => ({
    paymentId: String(row.payment_id),
    words: `${String(row.resource)}, ${String(row.state)}`,
  }));
}

export function glanceAtTravellers(home: string): string[] {
  const keys = join(home, 'keys', 'client.json');
  if (!existsSync(keys)) return [];
  const rows = readRows(join(home, 'client.db'), 'select traveller_id, name_sealed from travellers');
  const secrets = openSecrets(keys);
  return rows.map((row) =>
    secrets.decrypt(`travellers.name_sealed.${String(row.traveller_id)}`, String(row.name_sealed)),
  );
}
