import { instant } from '../../kernel/clock.ts';
import type { AuditQuery, AuditTrail, Switches, SwitchesRequest } from '../../wire/flights/index.ts';
import type { FlightsPorts } from '../ports.ts';
import type { By } from '../refunds/decisions.ts';
import { writeAudit } from './audit.ts';
import { isOff, SWITCH_NAMES, type SwitchName, turnSwitch } from './switches.ts';

/** What operators see and turn beside refund requests. */
export function createControls(ports: FlightsPorts) {
  const { store } = ports;

  const standing = async (name: SwitchName) => ((await isOff(ports, name)) ? 'off' : 'on');
  const switches = async (): Promise<Switches> => ({
    booking: await standing('booking'),
    lowcost: await standing('lowcost'),
  });

  return {
    switches,

    /** Flips switches for every process on this database; what is under way goes on. */
    async turn(by: By, request: SwitchesRequest): Promise<Switches> {
      await store.transaction().execute(async (tx) => {
        for (const name of SWITCH_NAMES) {
          const wanted = request[name];
          if (wanted === undefined) continue;
          await turnSwitch(tx, name, wanted);
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

    /** Newest first. */
    async audit({ subject, limit, cursor }: AuditQuery): Promise<AuditTrail> {
      const rows = await store
        .selectFrom('operator_audit')
        .selectAll()
        .$if(subject !== undefined, (query) => query.where('subject', '=', subject ?? ''))
        .where('audit_id', '>', '')
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
