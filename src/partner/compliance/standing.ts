import type { Selectable } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { networkNamed } from '../../kernel/domain/exchange-codes.ts';
import { problem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import type { AttestationType, DataType } from '../../wire/partner/kinds.ts';
import {
  type Attest,
  customerTurn,
  findRow,
  type PartnerOrderTable,
  type PartnerPorts,
  type Store,
  type Tx,
} from '../base/index.ts';
import { createAttestations, runsOf } from './attestations.ts';
import { type Assessment, assess, type Facts, type Judged, type Requirement, type Terms } from './compliance.ts';
import { REMEMBERED_MS } from './compliance-due.ts';
import { loadPolicy, type PolicyOrder, requirementsOf, sum, usdOf } from './policy.ts';
import { submissionsOf } from './submissions.ts';

/** An order whose compliance is checked. It has an id if its row exists; the row then does not count against it. */
export type WantedOrder = Pick<
  Selectable<PartnerOrderTable>,
  | 'partner_id'
  | 'country_code'
  | 'transaction_type'
  | 'source_amount'
  | 'source_currency'
  | 'network'
  | 'customer_wallet_data_id'
> & { readonly order_id?: string };

/**
 * Compares a customer's data with the requirements of the policy and of partners. Reading also begins attestations that
 * have become possible, or whose result has become too old.
 *
 * `wanted` limits it to one order: the policy for that order, and the requirements of its partner only.
 */
export function createStanding(ports: PartnerPorts, attest: Attest | null = ports.demo?.attest ?? null) {
  const { store, clock } = ports;
  const policy = loadPolicy(ports.options.compliancePolicyFile);
  const final: ReadonlySet<AttestationType> = new Set(policy.rejection.final);
  const attestations = createAttestations(ports, attest);

  /** Describes an order to the policy. The amount includes other orders within its window. */
  async function weigh(at: Store | Tx, customerId: string, wanted: WantedOrder): Promise<PolicyOrder> {
    const days = policy.amountWindowDays;
    const earlier = days === 0 ? [] : await ordersSince(at, customerId, clock.now() - days * DAY_MS, wanted.order_id);
    const worth = [wanted, ...earlier].map((one) => usdOf(policy, one.source_amount, one.source_currency));
    const known = worth.filter((usd) => usd !== null);
    return {
      rampType: wanted.transaction_type,
      country: wanted.country_code,
      usd: known.length === worth.length ? sum(known) : null,
      network: networkNamed(wanted.network),
    };
  }

  /** The last order in each direction that was refused recently. */
  async function remembered(at: Store | Tx, customerId: string): Promise<PolicyOrder[]> {
    const rows = await at
      .selectFrom('wanted_orders')
      .selectAll()
      .where('customer_id', '=', customerId)
      .where('wanted_at_ms', '>', clock.now() - REMEMBERED_MS)
      .orderBy('ramp_type')
      .execute();
    return rows.map((row) => ({
      rampType: row.ramp_type === 'ONRAMP' ? 'ONRAMP' : 'OFFRAMP',
      country: row.country,
      usd: row.usd,
      network: row.network === null ? null : networkNamed(row.network),
    }));
  }

  async function requirements(at: Store | Tx, customerId: string, wanted?: WantedOrder): Promise<Requirement[]> {
    const country = (await findRow(at, 'customers', { customer_id: customerId }))?.country ?? null;
    const orders = wanted ? [await weigh(at, customerId, wanted)] : [null, ...(await remembered(at, customerId))];
    const asked = orders.flatMap((order) => requirementsOf(policy, country, order));
    return [...asked, ...(await added(at, customerId, wanted?.partner_id))];
  }

  /** The requirements of one partner or of all, oldest first. */
  async function added(at: Store | Tx, customerId: string, partnerId?: string): Promise<readonly Requirement[]> {
    const rows = await at
      .selectFrom('partner_requirements')
      .leftJoin('partners', 'partners.partner_id', 'partner_requirements.partner_id')
      .select(['data_type', 'attestation_type', 'max_age_days', 'terms_url', 'privacy_policy_url'])
      .where('partner_requirements.customer_id', '=', customerId)
      .$if(partnerId !== undefined, (one) => one.where('partner_requirements.partner_id', '=', partnerId ?? ''))
      .orderBy('partner_requirements.created_at_ms')
      .orderBy('partner_requirements.requirement_id')
      .execute();
    return rows.map((row): Requirement => {
      const limits = { maxAgeDays: row.max_age_days, network: null };
      if (row.data_type !== null) return { ...limits, kind: 'data', type: row.data_type as DataType };
      const type = row.attestation_type as AttestationType;
      if (type !== 'TERMS') return { ...limits, kind: 'attestation', type };
      const { terms_url: termsUrl, privacy_policy_url: privacyPolicyUrl } = row;
      const terms = termsUrl && privacyPolicyUrl ? { version: '', termsUrl, privacyPolicyUrl } : policy.terms;
      return { ...limits, kind: 'attestation', type, terms };
    });
  }

  async function facts(at: Store | Tx, customerId: string, wanted?: WantedOrder): Promise<Facts> {
    const wallet = wanted?.customer_wallet_data_id;
    const given = await submissionsOf(ports, at, customerId);
    return {
      // Only the wallet that the order names counts.
      submissions: given.some(({ dataId }) => dataId === wallet)
        ? given.filter(({ type, dataId }) => type !== 'CRYPTO_WALLET' || dataId === wallet)
        : given,
      runs: await runsOf(at, customerId),
      acceptances: await acceptancesOf(at, customerId),
    };
  }

  const assessed = async (at: Store | Tx, customerId: string, wanted?: WantedOrder): Promise<Assessment> =>
    assess(await requirements(at, customerId, wanted), await facts(at, customerId, wanted), clock.now(), final);

  /** Begins every due attestation in a transaction, and assesses the customer. */
  async function settled(tx: Tx, customerId: string, wanted?: WantedOrder): Promise<Assessment> {
    const first = await assessed(tx, customerId, wanted);
    return (await attestations.begin(tx, customerId, first.judged)) > 0 ? assessed(tx, customerId, wanted) : first;
  }

  async function now(customerId: string, wanted?: WantedOrder): Promise<Assessment> {
    const first = await assessed(store, customerId, wanted);
    const finished = first.status === 'COMPLIANCE_STATUS_PROCESSING' ? await attestations.runDue(customerId) : 0;
    const second = finished > 0 ? await assessed(store, customerId, wanted) : first;
    if (!second.judged.some(({ standing }) => standing.state === 'due')) return second;
    return inTurn(store, [customerTurn(customerId)], (tx) => settled(tx, customerId, wanted));
  }

  return { store, clock, policy, attestations, weigh, assessed, settled, now };
}

type Standing = ReturnType<typeof createStanding>;

/** The customer's orders since a time, without canceled, refunded, failed and redirected ones. */
async function ordersSince(at: Store | Tx, customerId: string, sinceMs: number, except: string | undefined) {
  const rows = await at
    .selectFrom('partner_orders')
    .select(['order_id', 'source_amount', 'source_currency', 'status'])
    .where('customer_id', '=', customerId)
    .where('creation', 'in', ['creating', 'created'])
    .where('created_at_ms', '>', sinceMs)
    .execute();
  return rows.filter(({ order_id, status }) => order_id !== except && status !== 'CANCELED' && status !== 'REFUNDED');
}

async function acceptancesOf(at: Store | Tx, customerId: string): Promise<Facts['acceptances']> {
  const rows = await at.selectFrom('terms_acceptances').selectAll().where('customer_id', '=', customerId).execute();
  return rows.map((row) => ({
    version: row.version,
    termsUrl: row.terms_url,
    privacyPolicyUrl: row.privacy_policy_url,
    acceptedAtMs: row.accepted_at_ms,
  }));
}

export async function addAcceptance(
  { ids }: Pick<PartnerPorts, 'ids'>,
  tx: Tx,
  customer_id: string,
  { version, termsUrl: terms_url, privacyPolicyUrl: privacy_policy_url }: Terms,
  accepted_at_ms: number,
): Promise<void> {
  const acceptance_id = ids.next('att');
  await tx
    .insertInto('terms_acceptances')
    .values({ acceptance_id, customer_id, version, terms_url, privacy_policy_url, accepted_at_ms })
    .execute();
}

/**
 * Refuses an order unless its compliance status is SUCCESS, by the policy for its country, direction and amount (with
 * the customer's recent orders) and by its partner's requirements. The contract leaves this check open, but a ramp may
 * not take money from unknown people.
 *
 * Call it before any request is sent, and again in the transaction that writes the order, so that concurrent orders do
 * not exceed a limit together.
 * @throws Problem `compliance_required`, with the status and the outstanding requirements. Outside a transaction the
 *   order is saved, and GetOnboardingRequirements lists its requirements from then on.
 */
export async function requireCompliant(
  standing: Standing,
  customerId: string,
  wanted: WantedOrder,
  tx?: Tx,
): Promise<void> {
  const assessment = await (tx ? standing.assessed(tx, customerId, wanted) : standing.now(customerId, wanted));
  const isCompliant = assessment.status === 'COMPLIANCE_STATUS_SUCCESS';
  if (isCompliant && tx) await noteUse(tx, assessment, standing.clock.now());
  if (isCompliant) return;
  const turns = [customerTurn(customerId)];
  if (!tx) await inTurn(standing.store, turns, (own) => remember(standing, own, customerId, wanted));
  throw problem('compliance_required', {
    detail: {
      complianceStatus: assessment.status,
      outstanding: assessment.judged.filter((one) => one.standing.state !== 'met').map(outstandingOf),
    },
  });
}

/** Saves a refused order; it replaces the previous one in the same direction. */
async function remember({ weigh, clock }: Standing, tx: Tx, customer_id: string, wanted: WantedOrder): Promise<void> {
  const { rampType: ramp_type, ...weighed } = await weigh(tx, customer_id, wanted);
  const row = { ...weighed, partner_id: wanted.partner_id, wanted_at_ms: clock.now() };
  await tx
    .insertInto('wanted_orders')
    .values({ customer_id, ramp_type, ...row })
    .onConflict((conflict) => conflict.columns(['customer_id', 'ramp_type']).doUpdateSet(row))
    .execute();
}

/** Restarts the retention of the data that an order uses. Writes once a day at most. */
async function noteUse(tx: Tx, { judged }: Assessment, nowMs: number): Promise<void> {
  const dataIds = [...new Set(judged.flatMap((one) => one.dataIds))];
  if (dataIds.length === 0) return;
  await tx
    .updateTable('customer_data')
    .set({ last_used_at_ms: nowMs })
    .where('data_id', 'in', dataIds)
    .where('last_used_at_ms', '<', nowMs - DAY_MS)
    .execute();
}

/** Describes an open requirement of an order to machines, in the specification's names. */
function outstandingOf({ requirement, standing }: Judged) {
  const state = standing.state === 'missing' || standing.state === 'rejected' ? standing.state : 'running';
  return {
    ...(requirement.kind === 'data' ? { data: requirement.type } : { attestation: requirement.type }),
    ...(requirement.network === null ? {} : { network: requirement.network }),
    state,
  };
}
