import { DAY_MS } from '../../kernel/clock.ts';
import { networkNamed } from '../../kernel/domain/exchange-codes.ts';
import { problem } from '../../kernel/problems.ts';
import type { AttestationType, DataType } from '../../wire/partner/kinds.ts';
import type { Attest, PartnerPorts, Store, Tx } from '../base/index.ts';
import { createAttestations } from './attestations.ts';
import {
  type Acceptance,
  type Assessment,
  assess,
  type Facts,
  type Judged,
  type Requirement,
  type Terms,
  type WalletNetwork,
} from './compliance.ts';
import { loadPolicy, type Policy, type PolicyOrder, requirementsOf, sum, usdOf } from './policy.ts';
import { createSubmissions } from './submissions.ts';

/** Which requirements an assessment is about. */
type About =
  | { readonly kind: 'customer' }
  /** One order: the policy for it, and what its own partner asks. Another partner's wishes hold nobody up. */
  | { readonly kind: 'order'; readonly wanted: WantedOrder };

/**
 * How customers stand: the policy and what partners added, held against what is there. Reading it begins the
 * attestations that have become possible, or whose result has grown too old.
 */
export function createStanding(ports: PartnerPorts, attest: Attest | null = ports.demo?.attest ?? null) {
  const { store, clock } = ports;
  const policy = loadPolicy(ports.options.compliancePolicyFile);
  const final: ReadonlySet<AttestationType> = new Set(policy.rejection.final);
  const submissions = createSubmissions(ports);
  const attestations = createAttestations(ports, submissions, attest);
  const wantedOrders = createWantedOrders(ports, policy);

  async function requirements(at: Store | Tx, customerId: string, about: About): Promise<Requirement[]> {
    const customer = await at
      .selectFrom('customers')
      .select('country')
      .where('customer_id', '=', customerId)
      .executeTakeFirst();
    const orders =
      about.kind === 'order'
        ? [await wantedOrders.weigh(at, customerId, about.wanted)]
        : [null, ...(await wantedOrders.of(at, customerId))];
    return [
      ...orders.flatMap((order) => requirementsOf(policy, customer?.country ?? null, order)),
      ...(await added(at, customerId, about.kind === 'order' ? about.wanted.partnerId : null)),
    ];
  }

  /** What partners added, oldest first; of one partner, or of all. */
  async function added(at: Store | Tx, customerId: string, partnerId: string | null): Promise<readonly Requirement[]> {
    const rows = await at
      .selectFrom('partner_requirements')
      .leftJoin('partners', 'partners.partner_id', 'partner_requirements.partner_id')
      .select(['data_type', 'attestation_type', 'max_age_days', 'terms_url', 'privacy_policy_url'])
      .where('partner_requirements.customer_id', '=', customerId)
      .$if(partnerId !== null, (one) => one.where('partner_requirements.partner_id', '=', partnerId ?? ''))
      .orderBy('partner_requirements.created_at_ms')
      .orderBy('partner_requirements.requirement_id')
      .execute();
    return rows.map((row): Requirement => {
      const limits = { maxAgeDays: row.max_age_days, network: null };
      if (row.data_type !== null) return { ...limits, kind: 'data', type: row.data_type as DataType };
      const type = row.attestation_type as AttestationType;
      if (type !== 'TERMS') return { ...limits, kind: 'attestation', type };
      return { ...limits, kind: 'attestation', type, terms: termsOf(row) ?? policy.terms };
    });
  }

  async function facts(at: Store | Tx, customerId: string, about: About): Promise<Facts> {
    const wallet = about.kind === 'order' ? about.wanted.walletDataId : null;
    const given = await submissions.of(at, customerId);
    return {
      submissions: given.some(({ dataId }) => dataId === wallet)
        ? given.filter(({ type, dataId }) => type !== 'CRYPTO_WALLET' || dataId === wallet)
        : given,
      runs: await attestations.of(at, customerId),
      acceptances: await acceptancesOf(at, customerId),
    };
  }

  const assessed = async (at: Store | Tx, customerId: string, about: About): Promise<Assessment> =>
    assess(await requirements(at, customerId, about), await facts(at, customerId, about), clock.now(), final);

  /** In a transaction: how the customer stands, with every attestation begun that can be. */
  async function settled(tx: Tx, customerId: string, about: About): Promise<Assessment> {
    const first = await assessed(tx, customerId, about);
    return (await attestations.begin(tx, customerId, first.judged)) > 0 ? assessed(tx, customerId, about) : first;
  }

  /** How the customer stands now: what is due is finished and begun first. */
  async function now(customerId: string, about: About): Promise<Assessment> {
    const first = await assessed(store, customerId, about);
    const finished = first.status === 'COMPLIANCE_STATUS_PROCESSING' ? await attestations.runDue(customerId) : 0;
    const second = finished > 0 ? await assessed(store, customerId, about) : first;
    if (!second.judged.some(({ standing }) => standing.state === 'due')) return second;
    return store.transaction().execute((tx) => settled(tx, customerId, about));
  }

  return { policy, submissions, attestations, wantedOrders, assessed, settled, now };
}

export type Standing = ReturnType<typeof createStanding>;

const termsOf = (row: { terms_url: string | null; privacy_policy_url: string | null }): Terms | null =>
  row.terms_url && row.privacy_policy_url
    ? { version: '', termsUrl: row.terms_url, privacyPolicyUrl: row.privacy_policy_url }
    : null;

async function acceptancesOf(at: Store | Tx, customerId: string): Promise<Acceptance[]> {
  const rows = await at.selectFrom('terms_acceptances').selectAll().where('customer_id', '=', customerId).execute();
  return rows.map((row) => ({
    version: row.version,
    termsUrl: row.terms_url,
    privacyPolicyUrl: row.privacy_policy_url,
    acceptedAtMs: row.accepted_at_ms,
  }));
}

/** Adds a consent to terms. Acceptances are never changed. */
export async function addAcceptance(
  tx: Tx,
  given: { readonly acceptanceId: string; readonly customerId: string; readonly terms: Terms; readonly atMs: number },
): Promise<void> {
  await tx
    .insertInto('terms_acceptances')
    .values({
      acceptance_id: given.acceptanceId,
      customer_id: given.customerId,
      version: given.terms.version,
      terms_url: given.terms.termsUrl,
      privacy_policy_url: given.terms.privacyPolicyUrl,
      accepted_at_ms: given.atMs,
    })
    .execute();
}

/** How long a refused order is remembered, to list what it would have taken. */
const REMEMBERED_MS = 30 * DAY_MS;

export interface WantedOrder {
  readonly partnerId: string;
  /** ISO 3166-1 alpha-3. */
  readonly country: string;
  readonly rampType: 'ONRAMP' | 'OFFRAMP';
  /** What the customer gives: a decimal string, and its currency. */
  readonly amount: string;
  readonly currency: string;
  readonly network: WalletNetwork | null;
  /** The wallet that the order names: attestations of wallets are about this one. */
  readonly walletDataId?: string | null | undefined;
  /** The order's own id, where its row is written already: it does not count against itself. */
  readonly orderId?: string | undefined;
}

/** Orders as the policy sees them: those that are wanted, and those that count together with them. */
function createWantedOrders({ clock }: Pick<PartnerPorts, 'clock'>, policy: Policy) {
  return {
    /** The order as the policy weighs it, with the customer's other orders within its window. */
    async weigh(store: Store | Tx, customerId: string, wanted: WantedOrder): Promise<PolicyOrder> {
      const earlier = policy.amountWindowDays === 0 ? [] : await ordered(store, customerId, wanted.orderId);
      const worth = [{ amount: wanted.amount, currency: wanted.currency }, ...earlier].map((one) =>
        usdOf(policy, one.amount, one.currency),
      );
      const known = worth.filter((usd) => usd !== null);
      return {
        rampType: wanted.rampType,
        country: wanted.country,
        usd: known.length === worth.length ? sum(known) : null,
        network: wanted.network,
      };
    },

    /** Remembers a refused order, in place of the one before in its direction. */
    async remember(tx: Tx, customerId: string, wanted: WantedOrder, order: PolicyOrder): Promise<void> {
      const row = {
        partner_id: wanted.partnerId,
        country: order.country,
        usd: order.usd,
        network: order.network,
        wanted_at_ms: clock.now(),
      };
      await tx
        .insertInto('wanted_orders')
        .values({ customer_id: customerId, ramp_type: order.rampType, ...row })
        .onConflict((conflict) => conflict.columns(['customer_id', 'ramp_type']).doUpdateSet(row))
        .execute();
    },

    async forget(tx: Tx, customerId: string, rampType: WantedOrder['rampType']): Promise<void> {
      await tx
        .deleteFrom('wanted_orders')
        .where('customer_id', '=', customerId)
        .where('ramp_type', '=', rampType)
        .execute();
    },

    async of(store: Store | Tx, customerId: string): Promise<PolicyOrder[]> {
      const rows = await store
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
    },
  };

  /** The customer's orders within the window, but canceled, refunded and redirected ones. */
  async function ordered(store: Store | Tx, customerId: string, except: string | undefined) {
    const rows = await store
      .selectFrom('partner_orders')
      .select(['order_id', 'source_amount as amount', 'source_currency as currency', 'status'])
      .where('customer_id', '=', customerId)
      .where('creation', 'in', ['creating', 'created'])
      .where('created_at_ms', '>', clock.now() - policy.amountWindowDays * DAY_MS)
      .execute();
    return rows.filter(({ order_id, status }) => order_id !== except && status !== 'CANCELED' && status !== 'REFUNDED');
  }
}

/**
 * The gate of CreateOrder: no order without a compliance status of SUCCESS for this very order, which is the policy by
 * country, direction and amount (with what the customer ordered lately), and what the order's partner asks. The
 * contract leaves it open; a ramp may not take money from somebody it does not know.
 *
 * Call it once before anything leaves the house, and once more with the transaction that writes the order: two orders
 * at once that are too much together do not both pass.
 * @throws Problem `compliance_required`, with the status and what is outstanding. Outside a transaction the order is
 *   remembered, and GetOnboardingRequirements lists from then on what it takes.
 */
export function createComplianceGate(ports: Pick<PartnerPorts, 'store' | 'clock'>, standing: Standing) {
  const { store, clock } = ports;

  return async function requireCompliant(customerId: string, wanted: WantedOrder, tx?: Tx): Promise<void> {
    const about = { kind: 'order', wanted } as const;
    if (tx) {
      const assessment = await standing.assessed(tx, customerId, about);
      if (assessment.status !== 'COMPLIANCE_STATUS_SUCCESS') throw required(assessment);
      return noteUse(tx, assessment);
    }
    const assessment = await standing.now(customerId, about);
    if (assessment.status === 'COMPLIANCE_STATUS_SUCCESS') return;
    await store.transaction().execute(async (own) => {
      const order = await standing.wantedOrders.weigh(own, customerId, wanted);
      await standing.wantedOrders.remember(own, customerId, wanted, order);
    });
    throw required(assessment);
  };

  /** The retention of what the order stands on counts from now: written once a day at most. */
  async function noteUse(tx: Tx, { judged }: Assessment): Promise<void> {
    const dataIds = [...new Set(judged.flatMap((one) => one.dataIds))];
    if (dataIds.length === 0) return;
    const nowMs = clock.now();
    await tx
      .updateTable('customer_data')
      .set({ last_used_at_ms: nowMs })
      .where('data_id', 'in', dataIds)
      .where('last_used_at_ms', '<', nowMs - DAY_MS)
      .execute();
  }
}

const required = (assessment: Assessment) =>
  problem('compliance_required', {
    detail: {
      complianceStatus: assessment.status,
      outstanding: assessment.judged.filter(({ standing }) => standing.state !== 'met').map(outstandingOf),
    },
  });

/** What is left to do before an order can be made, for machines: names of the specification alone. */
function outstandingOf({ requirement, standing }: Judged) {
  const state = standing.state === 'missing' || standing.state === 'rejected' ? standing.state : 'running';
  return {
    ...(requirement.kind === 'data' ? { data: requirement.type } : { attestation: requirement.type }),
    ...(requirement.network === null ? {} : { network: requirement.network }),
    state,
  };
}
