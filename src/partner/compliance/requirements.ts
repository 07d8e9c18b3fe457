import { type Issue, refuse } from '../../http/index.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { problem } from '../../kernel/problems.ts';
import type {
  AcceptTermsRequest,
  AcceptTermsResponse,
  AddCustomerRequirementRequest,
  AddCustomerRequirementResponse,
  CustomerRequirement,
  GetOnboardingRequirementsResponse,
  SubmitCustomerDataRequest,
  SubmitCustomerDataResponse,
} from '../../wire/partner/requirements.ts';
import type { Call, PartnerPorts, RunType, Tx } from '../base/index.ts';
import { customerTurn } from '../base/index.ts';
import { type CustomerData, validateCustomerData } from '../customer-data/index.ts';
import { RUN_INPUTS, type Terms } from './compliance.ts';
import type { Policy } from './policy.ts';
import { addAcceptance, createStanding } from './standing.ts';
import { dataOf, type Field, fieldsOf, type GivenData, isOfFile, openData, saveData } from './submissions.ts';

/**
 * Adds a partner's requirement (spec/partner-service.md, AddCustomerRequirement; CONTRACT, section 12). Here and below,
 * a change and the attestations that it makes possible are one transaction.
 */
export async function addCustomerRequirement(
  ports: PartnerPorts,
  call: Call,
  input: AddCustomerRequirementRequest,
): Promise<AddCustomerRequirementResponse> {
  const { settled } = createStanding(ports);
  return call.write([customerTurn(input.customerId)], async (tx) => {
    const requirementId = await addRequirement(ports, tx, call.partner.partnerId, input);
    await settled(tx, input.customerId);
    return { requirementId };
  });
}

/** How many accounts or wallets of a kind are shown at most. */
const MOST_SHOWN = 20;

/**
 * Lists a customer's requirements (spec/partner-service.md, Customer requirement). A data requirement is listed with
 * its data masked; empty `data` means that it is missing. The message has no field for given consent, so terms are
 * listed only until they are accepted. Other attestations show only through their data.
 */
export async function onboardingRequirements(
  ports: PartnerPorts,
  call: Call,
): Promise<GetOnboardingRequirementsResponse> {
  const customerId = customerOf(call);
  const { status, judged } = await createStanding(ports).now(customerId);
  const requirements: CustomerRequirement[] = [];
  for (const { requirement, standing, dataIds } of judged) {
    if (requirement.kind === 'data') {
      const { type, network } = requirement;
      const opened = await openData(ports, ports.store, customerId, dataIds.slice(0, MOST_SHOWN), { files: false });
      const data = [...opened.values()].map(shown);
      requirements.push({ dataRequirement: { type, data, config: network === null ? null : { network } } });
    } else if (requirement.type === 'TERMS' && standing.state !== 'met') {
      requirements.push({ attestationRequirement: { terms: addressesOf(requirement.terms) } });
    }
  }
  return { requirements, complianceStatus: status };
}

/** @throws Problem `invalid_request`, `too_many_attempts` */
export async function submitCustomerData(
  ports: PartnerPorts,
  call: Call,
  input: SubmitCustomerDataRequest,
): Promise<SubmitCustomerDataResponse> {
  const { policy, settled } = createStanding(ports);
  const customerId = customerOf(call);
  const given = await validated(input, call.nowMs, ports.environment === 'demo');
  return call.write([customerTurn(customerId)], async (tx) => {
    await refuseExcess(tx, policy, customerId, given, call.nowMs);
    const items = await saveData(ports, tx, customerId, given, call.nowMs);
    const { status } = await settled(tx, customerId);
    return { items, complianceStatus: status };
  });
}

/** @throws Problem `terms_changed` if no requirement asks for terms with these addresses */
export async function acceptTerms(
  ports: PartnerPorts,
  call: Call,
  input: AcceptTermsRequest,
): Promise<AcceptTermsResponse> {
  const { assessed, settled } = createStanding(ports);
  const customerId = customerOf(call);
  return call.write([customerTurn(customerId)], async (tx) => {
    const { judged } = await assessed(tx, customerId);
    const asked = judged.flatMap(({ requirement, standing: { state } }) =>
      requirement.type === 'TERMS' ? [{ terms: requirement.terms, isMet: state === 'met' }] : [],
    );
    const named = asked.filter(({ terms }) => namedBy(terms, input));
    if (named.length === 0)
      throw problem('terms_changed', { detail: { asked: asked.map(({ terms }) => addressesOf(terms)) } });
    for (const { terms, isMet } of named) if (!isMet) await addAcceptance(ports, tx, customerId, terms, call.nowMs);
    const { status } = await settled(tx, customerId);
    return { complianceStatus: status };
  });
}

/** True if the request has the addresses of these terms: consent is given to the pages that were shown. */
const namedBy = (terms: Terms, given: { termsUrl: string; privacyPolicyUrl?: string | undefined }): boolean =>
  given.termsUrl === terms.termsUrl && (given.privacyPolicyUrl ?? terms.privacyPolicyUrl) === terms.privacyPolicyUrl;

const addressesOf = ({ termsUrl, privacyPolicyUrl }: Terms) => ({ termsUrl, privacyPolicyUrl });

/** @throws Problem `invalid_request`, which lists every invalid field of every item, but no values */
async function validated(
  { data }: SubmitCustomerDataRequest,
  nowMs: number,
  testNetworks: boolean,
): Promise<GivenData[]> {
  const given: GivenData[] = [];
  const issues: Issue[] = [];
  for (const [index, item] of data.entries()) {
    const checked = await validateCustomerData(item, { nowMs, testNetworks });
    if ('issues' in checked) {
      for (const { path, message } of checked.issues)
        issues.push({ path: ['data', index, path].filter((part) => part !== '').join('.'), message });
    } else {
      given.push({ type: checked.kind, value: checked.data });
    }
  }
  if (issues.length > 0) refuse(issues);
  return given;
}

function customerOf({ customerId }: Pick<Call, 'customerId'>): string {
  if (customerId === null) throw problem('customer_token_required');
  return customerId;
}

/** Fields shown in full, which identify no person: choices from a list, countries, an expiry date. */
const PLAIN: ReadonlySet<string> = new Set([
  'accountPurpose.type',
  'bankAccount.iban.country',
  'bankAccount.nuban.bankCode',
  'cryptoWallet.type',
  'employmentStatus.type',
  'expectedMonthlyPayments.category',
  'idDocument.documentType',
  'idDocument.issuingCountry',
  'idDocument.expiryDate',
  'intermediary.isIntermediary',
  'lastOccupation.code',
  'nationality.country',
  'occupation.employmentStatus',
  'phone.countryCode',
  'proofOfAddress.country',
  'residentialAddress.country',
  'sourceOfFunds.type',
  'taxId.country',
  'taxId.type',
]);

/** Fields that show their last characters, so that people can tell accounts apart. */
const BY_THE_END: ReadonlySet<string> = new Set([
  'bankAccount.ach.accountNumber',
  'bankAccount.clabe.accountNumber',
  'bankAccount.iban.accountNumber',
  'bankAccount.nuban.accountNumber',
  'bankAccount.pix.pixKey',
  'cryptoWallet.address',
  'idDocument.documentNumber',
  'phone.number',
  'taxId.number',
]);

/**
 * Masks a piece of data: its customer still recognises it, but other readers of the answer (a partner's server makes
 * the call) cannot use it. Leaves out files and their hashes.
 */
function shown(value: CustomerData): CustomerData {
  const fields = fieldsOf(value).flatMap(({ field, text }): Field[] => {
    if (isOfFile(field)) return [];
    if (PLAIN.has(field)) return [{ field, text }];
    const inner: unknown = JSON.parse(text);
    return [{ field, text: typeof inner === 'string' ? JSON.stringify(masked(field, inner)) : text }];
  });
  return dataOf(fields);
}

function masked(field: string, text: string): string {
  if (field === 'email.value') {
    const [name = '', domain = ''] = text.split('@');
    return `${name.slice(0, 1)}***@${domain}`;
  }
  if (field === 'birthDate.date') return `${text.slice(0, 4)}-**-**`;
  // At most a third and at most four characters, so a very short number is hidden entirely.
  const open = Math.min(4, Math.floor(text.length / 3));
  if (BY_THE_END.has(field)) return `***${open === 0 ? '' : text.slice(-open)}`;
  return `${text.slice(0, 1)}***`;
}

/** Requirements of a partner; there are 26 kinds. */
const MOST_PER_CUSTOMER = 100;

/**
 * Adds a partner's requirement of one customer. Asking again for the same kind and maxAgeDays returns the existing one.
 * @throws Problem `customer_not_found`, also if the customer is not linked to the partner; `too_many_attempts`
 */
export async function addRequirement(
  { ids, clock, environment }: Pick<PartnerPorts, 'ids' | 'clock' | 'environment'>,
  tx: Tx,
  partnerId: string,
  { customerId, data, attestation, maxAgeDays }: AddCustomerRequirementRequest,
): Promise<string> {
  const linked = await tx
    .selectFrom('customer_partners')
    .innerJoin('customers', 'customers.customer_id', 'customer_partners.customer_id')
    .select('customers.customer_id')
    .where('customers.customer_id', '=', customerId)
    .where('customers.environment', '=', environment)
    .where('customer_partners.partner_id', '=', partnerId)
    .executeTakeFirst();
  if (!linked) throw problem('customer_not_found');
  const askKey = canonicalJson([partnerId, customerId, data ?? attestation, maxAgeDays ?? null]);
  const known = await tx
    .selectFrom('partner_requirements')
    .select(['requirement_id', 'ask_key'])
    .where('partner_id', '=', partnerId)
    .where('customer_id', '=', customerId)
    .execute();
  const same = known.find(({ ask_key }) => ask_key === askKey);
  if (same) return same.requirement_id;
  if (known.length >= MOST_PER_CUSTOMER) {
    throw problem('too_many_attempts', {
      message: `You already have ${MOST_PER_CUSTOMER} requirements for this customer.`,
      fix: 'Nothing was added.',
    });
  }
  const requirementId = ids.next('rqm');
  await tx
    .insertInto('partner_requirements')
    .values({
      requirement_id: requirementId,
      customer_id: customerId,
      partner_id: partnerId,
      data_type: data ?? null,
      attestation_type: attestation ?? null,
      max_age_days: maxAgeDays ?? null,
      ask_key: askKey,
      created_at_ms: clock.now(),
    })
    .execute();
  return requirementId;
}

/** Pieces of data of a customer: many times what all requirements need together. */
const MOST_PER_DAY = 200;

/** Keeps a customer from guessing values and filling the disk. @throws Problem `too_many_attempts`, with Retry-After */
async function refuseExcess(
  tx: Tx,
  policy: Policy,
  customerId: string,
  given: readonly GivenData[],
  nowMs: number,
): Promise<void> {
  const sinceMs = nowMs - DAY_MS;
  const pieces = await tx
    .selectFrom('customer_data')
    .select('submitted_at_ms as at')
    .where('customer_id', '=', customerId)
    .where('submitted_at_ms', '>', sinceMs)
    .execute();
  if (pieces.length + given.length > MOST_PER_DAY) throw tooMany(pieces, nowMs, 'data was given');
  const rejected = await tx
    .selectFrom('attestation_runs')
    .select(['type', 'finished_at_ms as at'])
    .where('customer_id', '=', customerId)
    .where('state', '=', 'rejected')
    .where('finished_at_ms', '>', sinceMs)
    .execute();
  for (const [type, inputs] of Object.entries(RUN_INPUTS) as [RunType, (typeof RUN_INPUTS)[RunType]][]) {
    const ofType = rejected.filter((one) => one.type === type);
    if (ofType.length >= policy.rejection.mostPerDay && given.some((one) => one.type === inputs[0]))
      throw tooMany(ofType, nowMs, `${inputs[0]} was rejected`);
  }
}

const tooMany = (times: readonly { readonly at: number | null }[], nowMs: number, what: string) =>
  problem('too_many_attempts', {
    message: `${what.charAt(0).toUpperCase()}${what.slice(1)} too often within 24 hours.`,
    retryAfter: Math.max(1, (Math.min(...times.map(({ at }) => at ?? nowMs)) + DAY_MS - nowMs) / 1000),
  });
