import { instant } from '../kernel/clock.ts';
import { writeAudit } from './audit.ts';
import type { FlightsPorts } from './ports.ts';
import { createRefundCases, summaryOf } from './refund-cases.ts';
import type { By } from './refund-decisions.ts';
import { BOOKING_DISABLED, LOWCOST_DISABLED } from './switches.ts';
import type { AuditQuery, AuditTrail, Stuck, Switches, SwitchesRequest } from './wire.ts';

/** An effect that has been open for this long is one that a person looks at. */
const LONG_OPEN_MS = 10 * 60_000;
const MOST_LISTED = 200;

const SWITCHES = { booking: BOOKING_DISABLED, lowcost: LOWCOST_DISABLED } as const;
const SWITCH_NAMES = ['booking', 'lowcost'] as const;

/** What operators see and turn beside refund requests. */
export function createControls(ports: FlightsPorts) {
  const { store, clock } = ports;

  async function switches(): Promise<Switches> {
    const rows = await store
      .selectFrom('meta')
      .selectAll()
      .where('key', 'in', Object.values(SWITCHES))
      .execute();
    const isOff = (name: keyof typeof SWITCHES) =>
      rows.some((row) => row.key === SWITCHES[name] && row.value !== '0') ||
      (name === 'booking' ? ports.options.bookingDisabled : ports.options.lowcostDisabled);
    return { booking: isOff('booking') ? 'off' : 'on', lowcost: isOff('lowcost') ? 'off' : 'on' };
  }

  return {
    switches,

    /** Flips switches for every process on this database; what is under way goes on. */
    async turn(by: By, request: SwitchesRequest): Promise<Switches> {
      await store.transaction().execute(async (tx) => {
        for (const name of SWITCH_NAMES) {
          const wanted = request[name];
          if (wanted === undefined) continue;
          const value = wanted === 'off' ? '1' : '0';
          await tx
            .insertInto('meta')
            .values({ key: SWITCHES[name], value })
            .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
            .execute();
          await writeAudit(tx, ports, {
            ...by,
            action: `switch.${name}`,
            subject: name,
            detail: { to: wanted },
          });
        }
      });
      return switches();
    },

    /** What waits for a person: bookings and refunds that are stuck, effects that are stuck or open for long. */
    async stuck(): Promise<Stuck> {
      const bookings = await store
        .selectFrom('bookings')
        .select(['intent_id', 'last_error', 'attempts', 'updated_at_ms'])
        .where('state', '=', 'stuck')
        .orderBy('updated_at_ms')
        .limit(MOST_LISTED)
        .execute();
      const effects = await store
        .selectFrom('effects')
        .selectAll()
        .where((either) =>
          either.or([
            either('state', '=', 'stuck'),
            either.and([
              either('state', 'in', ['planned', 'sent']),
              either('created_at_ms', '<=', clock.now() - LONG_OPEN_MS),
            ]),
          ]),
        )
        .orderBy('created_at_ms')
        .limit(MOST_LISTED)
        .execute();
      const requests = await store
        .selectFrom('refund_requests')
        .select('request_id')
        .where('state', '=', 'stuck')
        .limit(MOST_LISTED)
        .execute();
      const cases = createRefundCases(ports);
      const opened = await Promise.all(requests.map((row) => cases.open(row.request_id)));
      return {
        bookings: bookings.map(({ updated_at_ms, ...row }) => ({
          ...row,
          updated_at: instant(updated_at_ms),
        })),
        effects: effects.map((row) => ({
          effect_id: row.effect_id,
          kind: row.kind,
          subject: row.subject,
          state: row.state,
          error: row.error,
          signature: row.signature,
          created_at: instant(row.created_at_ms),
          updated_at: instant(row.updated_at_ms),
        })),
        refund_requests: opened.map(summaryOf),
      };
    },

    /** Newest first. */
    async audit({ subject, limit, cursor }: AuditQuery): Promise<AuditTrail> {
      const rows = await store
        .selectFrom('operator_audit')
        .selectAll()
        .$if(subject !== undefined, (query) => query.where('subject', '=', subject ?? ''))
        .$if(cursor !== undefined, (query) => query.where('audit_id', '<', cursor ?? ''))
        .orderBy('audit_id', 'desc')
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      return {
        entries: page.map((row) => ({
          audit_id: row.audit_id,
          at: instant(row.at_ms),
          operator: row.operator_name,
          key_id: row.key_id,
          action: row.action,
          subject: row.subject,
          request_id: row.request_id,
          detail: JSON.parse(row.detail) as Record<string, unknown>,
        })),
        next_cursor: rows.length > limit ? (page.at(-1)?.audit_id ?? null) : null,
      };
    },
  };
}
