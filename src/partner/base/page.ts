import { loadOutbox } from '../../notify/index.ts';
import type { PartnerPorts } from './ports.ts';
import type { Tx } from './tables.ts';

interface Page {
  readonly event: string;
  /** One page for each subject of an event. */
  readonly subject: string;
  /** Ids alone, and words of ours: a page leaves the house. */
  readonly text: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Pages the operator in the transaction of what it is about, so that nothing waits unseen. */
export async function pageOperator(
  { store, clock, ids, log, secrets }: Pick<PartnerPorts, 'store' | 'clock' | 'ids' | 'log' | 'secrets'>,
  tx: Tx,
  { event, subject, text, fields }: Page,
): Promise<void> {
  const { createOutbox } = await loadOutbox();
  // Written here; the service's own worker sends it.
  await createOutbox({ store, clock, ids, log, secrets, transports: null }).enqueue(tx, {
    kind: 'page',
    dedupKey: `page:${event}:${subject}`,
    intentId: null,
    event,
    text,
    fields,
  });
}
