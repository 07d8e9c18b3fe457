import type { Paint } from '../../../terminal/paint.ts';
import { tableLines } from '../../../terminal/table.ts';
import type { Screen, View } from '../../../terminal/terminal.ts';
import type {
  ComplianceStatus,
  CustomerRequirement,
  GetOnboardingRequirementsResponse,
} from '../../../wire/partner/index.ts';
import { statusWords } from './order.ts';

/** `COMPLIANCE_STATUS_PENDING` reads as `Pending`. */
function complianceText(status: ComplianceStatus, paint: Paint): string {
  const words = statusWords(status.replace('COMPLIANCE_STATUS_', ''));
  if (status === 'COMPLIANCE_STATUS_SUCCESS') return paint.good(words);
  return status === 'COMPLIANCE_STATUS_REJECTED' ? paint.bad(words) : paint.warn(words);
}

/** The requirements of a customer, and how far each is met. */
export const requirementsView: View<GetOnboardingRequirementsResponse> = {
  lines: ({ requirements, complianceStatus }, { paint }) => [
    `Compliance  ${complianceText(complianceStatus, paint)}`,
    ...(requirements.length === 0
      ? ['Nothing is required.']
      : [
          '',
          ...tableLines(
            [{ title: 'Required' }, { title: 'Given' }, { title: 'For' }],
            requirements.map((one) => rowOf(one, paint)),
            paint.dim,
          ),
        ]),
  ],
  rows: ({ requirements, complianceStatus }) => [
    statusRow(complianceStatus),
    ...requirements.map(({ dataRequirement: data, attestationRequirement: attestation }) => [
      data ? data.type : 'TERMS',
      data ? data.data.length : null,
      data?.config?.network ?? attestation?.terms.termsUrl ?? null,
    ]),
  ],
};

/** The first row of a pipe: a script that reads on can tell it from the data types by its name. */
export const statusRow = (status: ComplianceStatus): readonly string[] => ['COMPLIANCE_STATUS', status];

function rowOf({ dataRequirement, attestationRequirement }: CustomerRequirement, paint: Paint): string[] {
  if (dataRequirement) {
    const { type, data, config } = dataRequirement;
    return [
      statusWords(type),
      data && data.length > 0 ? paint.good(`✓ ${data.length}`) : '–',
      config?.network ?? '',
    ];
  }
  const terms = attestationRequirement?.terms;
  return ['Terms', '–', [terms?.termsUrl, terms?.privacyPolicyUrl].filter(Boolean).join(' ')];
}

/** The status after something was given. */
export const complianceLines = (
  { complianceStatus }: { complianceStatus: ComplianceStatus },
  { paint }: Screen,
): string[] => [`Compliance  ${complianceText(complianceStatus, paint)}`];
