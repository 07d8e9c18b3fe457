import { problem } from '../../kernel/problems.ts';
import type {
  AcceptTermsRequest,
  AcceptTermsResponse,
  AddCustomerRequirementRequest,
  AddCustomerRequirementResponse,
  GetOnboardingRequirementsResponse,
  SubmitCustomerDataRequest,
  SubmitCustomerDataResponse,
} from '../../wire/partner/requirements.ts';
import type { Call, PartnerService } from '../call.ts';
import { validateCustomerData } from '../customer-data/index.ts';
import { addAcceptance } from './acceptances.ts';
import { sameTerms, type Terms } from './compliance.ts';
import { onboardingOf } from './onboarding.ts';
import { addRequirement } from './partner-requirements.ts';
import { refuseExcess } from './submission-limits.ts';
import type { GivenData } from './submissions.ts';

const ABOUT = { kind: 'customer' } as const;

/**
 * Requirements and what fulfils them (spec/partner-service.md, AddCustomerRequirement and GetOnboardingRequirements;
 * CONTRACT, section 12). A change and the attestations that it makes possible are one transaction.
 */
export async function addCustomerRequirement(
  { ports, standing }: PartnerService,
  call: Call,
  input: AddCustomerRequirementRequest,
): Promise<AddCustomerRequirementResponse> {
  const { settled } = await standing();
  return call.write(async (tx) => {
    const requirementId = await addRequirement(ports, tx, call.partner.partnerId, input);
    await settled(tx, input.customerId, ABOUT);
    return { requirementId };
  });
}

export async function onboardingRequirements(
  { ports, standing }: PartnerService,
  call: Call,
): Promise<GetOnboardingRequirementsResponse> {
  const customerId = customerOf(call);
  const { now, submissions } = await standing();
  return onboardingOf(ports.store, submissions, customerId, await now(customerId, ABOUT));
}

/** @throws Problem `invalid_request`, `too_many_attempts` */
export async function submitCustomerData(
  { ports, standing }: PartnerService,
  call: Call,
  input: SubmitCustomerDataRequest,
): Promise<SubmitCustomerDataResponse> {
  const { policy, submissions, settled } = await standing();
  const customerId = customerOf(call);
  const given = await validated(input, call.nowMs, ports.environment === 'demo');
  return call.write(async (tx) => {
    await refuseExcess(tx, policy, customerId, given, call.nowMs);
    const items = await submissions.save(tx, customerId, given, call.nowMs);
    const { status } = await settled(tx, customerId, ABOUT);
    return { items, complianceStatus: status };
  });
}

/** @throws Problem `terms_changed`, where no requirement asks for terms with these addresses */
export async function acceptTerms(
  { ports, standing }: PartnerService,
  call: Call,
  input: AcceptTermsRequest,
): Promise<AcceptTermsResponse> {
  const { assessed, settled } = await standing();
  return call.write(async (tx) => {
    const customerId = customerOf(call);
    const { judged } = await assessed(tx, customerId, ABOUT);
    const asked = judged.flatMap(({ requirement, standing: { state } }) =>
      requirement.type === 'TERMS' && namedBy(requirement.terms, input)
        ? [{ terms: requirement.terms, met: state === 'met' }]
        : [],
    );
    if (asked.length === 0) throw problem('terms_changed', { detail: { asked: judged.flatMap(termsIn) } });
    const open = asked.filter(({ met }) => !met);
    for (const { terms } of open) {
      const acceptanceId = ports.ids.next('att');
      await addAcceptance(tx, { acceptanceId, customerId, terms, atMs: call.nowMs });
    }
    const { status } = await settled(tx, customerId, ABOUT);
    return { complianceStatus: status };
  });
}

/** The addresses that were sent are those of the terms: nobody agrees to a page that he was not shown. */
const namedBy = (terms: Terms, given: { termsUrl: string; privacyPolicyUrl?: string | undefined }): boolean =>
  sameTerms(terms, {
    version: terms.version,
    termsUrl: given.termsUrl,
    privacyPolicyUrl: given.privacyPolicyUrl ?? terms.privacyPolicyUrl,
  });

const termsIn = ({ requirement }: { requirement: { type: string; terms?: Terms } }) =>
  requirement.terms
    ? [{ termsUrl: requirement.terms.termsUrl, privacyPolicyUrl: requirement.terms.privacyPolicyUrl }]
    : [];

/** @throws Problem `invalid_request`, with every field of every item that is not valid; never a value */
async function validated(
  { data }: SubmitCustomerDataRequest,
  nowMs: number,
  testNetworks: boolean,
): Promise<GivenData[]> {
  const given: GivenData[] = [];
  const issues: { path: string; message: string }[] = [];
  for (const [index, item] of data.entries()) {
    const checked = await validateCustomerData(item, { nowMs, testNetworks });
    if ('issues' in checked) {
      for (const { path, message } of checked.issues)
        issues.push({ path: ['data', index, path].filter((part) => part !== '').join('.'), message });
    } else {
      given.push({ type: checked.kind, value: checked.data });
    }
  }
  if (issues.length > 0) throw problem('invalid_request', { detail: { issues } });
  return given;
}

function customerOf({ customerId }: Pick<Call, 'customerId'>): string {
  if (customerId === null) throw problem('customer_token_required');
  return customerId;
}
