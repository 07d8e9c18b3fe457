import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { readBounded } from '../../../kernel/bounded-file.ts';
import { problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { harmless, isRecord, listLines, type Paint, type View } from '../../../terminal/index.ts';
import type {
  AddCustomerRequirementRequest,
  ComplianceStatus,
  GetOnboardingRequirementsResponse,
} from '../../../wire/partner/index.ts';
import { confirmLive, readJson, sourceName } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import { statusWords } from '../../view/partner/index.ts';
import type * as spec from './spec.ts';

export const requirementsList: Run<typeof spec.requirementsList> = async ({ terminal, session, signal }, who) => {
  await session.work();
  const { client } = await session.partner(who);
  const found = await client.requirements({ signal });
  terminal.result(found, requirementsView);
  const isMissing = found.requirements.some(({ dataRequirement }) => dataRequirement?.data.length === 0);
  const hasTerms = found.requirements.some(({ attestationRequirement }) => attestationRequirement);
  const next = [
    ...(isMissing ? ['farelock requirements submit data.json'] : []),
    ...(hasTerms ? ['farelock requirements accept-terms'] : []),
  ];
  if (next.length > 0) terminal.aside(['', ...nextLines(...next)]);
  return 0;
};

export const requirementsSubmit: Run<typeof spec.requirementsSubmit> = async (context, options) => {
  const { terminal, session, signal, globals } = context;
  const data = await readCustomerData(context, options.file);
  const access = await session.partner(options);
  if (globals.dryRun) {
    // Only the kinds: no customer data is repeated on a screen.
    return printPlan(
      terminal,
      data.map((item) => `Submit ${Object.keys(item).join(', ')}.`),
    );
  }
  await confirmLive(context, access, options.live === true, `Submit ${data.length} pieces of customer data?`);
  terminal.phase('Submitting');
  const answer = await access.client.submitData({ data }, { signal });
  terminal.result(answer, {
    lines: (shown, screen) => [
      ...listLines({ paint: screen.paint }, shown.items ?? [], [
        { title: 'Accepted', cell: ({ type }) => statusWords(type) },
        { title: 'Data id', cell: ({ dataId }) => dataId },
      ]),
      '',
      complianceLine(shown.complianceStatus, screen.paint),
    ],
    rows: (shown) => [
      statusRow(shown.complianceStatus),
      ...(shown.items ?? []).map(({ type, dataId }) => [type, dataId]),
    ],
  });
  terminal.aside(['', ...nextLines('farelock requirements')]);
  return 0;
};

export const requirementsAcceptTerms: Run<typeof spec.requirementsAcceptTerms> = async (context, options) => {
  const { terminal, session, signal, globals } = context;
  const { client } = await session.partner(options);
  const { requirements, complianceStatus } = await client.requirements({ signal });
  const asked = requirements.flatMap(({ attestationRequirement }) => attestationRequirement?.terms ?? []);
  const chosen = asked.filter(({ termsUrl }) => options.termsUrl === undefined || termsUrl === options.termsUrl);
  const [terms] = chosen;
  if (!terms) {
    if (options.termsUrl !== undefined) {
      throw problem('terms_changed', { next: [farelock`requirements`] });
    }
    terminal.result({ complianceStatus }, { lines: () => ['No terms are waiting to be accepted.'] });
    return 0;
  }
  if (globals.dryRun)
    return printPlan(
      terminal,
      chosen.map(({ termsUrl }) => `Accept ${termsUrl}.`),
      { terms: chosen },
    );
  if (!globals.yes && options.termsUrl === undefined) {
    const prompts = terminal.ask('--yes');
    for (const { termsUrl, privacyPolicyUrl } of chosen) {
      terminal.note(harmless(`Terms           ${termsUrl}`));
      terminal.note(harmless(`Privacy policy  ${privacyPolicyUrl}`));
    }
    if (!(await prompts.confirm('Does the customer accept them?', false))) throw problem('declined');
  }
  let answer = { complianceStatus };
  for (const { termsUrl, privacyPolicyUrl } of chosen) {
    answer = await client.acceptTerms({ termsUrl, ...(privacyPolicyUrl && { privacyPolicyUrl }) }, { signal });
  }
  terminal.result(answer, {
    lines: (shown, { paint }) => [`${paint.good('✓')} Accepted`, complianceLine(shown.complianceStatus, paint)],
  });
  return 0;
};

export const requirementAdd: Run<typeof spec.partnerRequirementsAdd> = async (context, options) => {
  const { terminal, session, signal, globals } = context;
  const { customerId, data, attestation, maxAgeDays } = options;
  if ((data === undefined) === (attestation === undefined)) {
    throw problem('usage', {
      message: 'Use either --data or --attestation.',
      fix: 'See farelock partner requirements add --help.',
    });
  }
  const request = {
    customerId,
    ...(data !== undefined && { data }),
    ...(attestation !== undefined && { attestation }),
    ...(maxAgeDays !== undefined && { maxAgeDays }),
  } as AddCustomerRequirementRequest;
  const access = await session.partner(options);
  const what = data ?? attestation ?? '';
  if (globals.dryRun) return printPlan(terminal, [`Require ${what} of ${customerId}.`], { request });
  await confirmLive(context, access, options.live === true, `Require ${what} of ${customerId}?`);
  const answer = await access.client.addRequirement(request, { signal });
  terminal.result(answer, {
    lines: ({ requirementId }, { paint }) => [`${paint.good('✓')} ${what} is required  ${requirementId}`],
  });
  return 0;
};

/** Fields with the bytes of a file, and the fields of their hashes (spec/partner-service.md, Customer data). */
const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  idDocument: { frontSideImage: 'frontSideImageHash', backSideImage: 'backSideImageHash' },
  proofOfAddress: { file: 'fileHash' },
  selfie: { image: 'imageHash' },
};

/** Larger files are not worth encoding; the service has a limit of its own. */
const MOST_BYTES = 20 * 1024 * 1024;

const camelCase = (name: string): string => name.replace(/[_-](\w)/g, (_match, letter: string) => letter.toUpperCase());

/**
 * Reads the CustomerData items of a JSON file or of standard input: one object, an array, or `{ "data": […] }`.
 * Replaces the name of a file, `"frontSideImage": "@passport.jpg"` (from the folder of the JSON file), by its bytes and
 * adds their SHA-256. Personal data is never in argv.
 * @throws Problem `file_unreadable`, `data_invalid`
 */
export async function readCustomerData(context: CommandContext, source: string): Promise<object[]> {
  const items = itemsOf(await readJson(context, source), source);
  const folder = source === '-' ? process.cwd() : dirname(resolve(source));
  return items.map((item, index) => withFiles(item, folder, items.length > 1 ? `${index + 1}: ` : ''));
}

function itemsOf(given: unknown, source: string): Record<string, unknown>[] {
  const list = Array.isArray(given) ? given : isRecord(given) ? (listIn(given) ?? [given]) : null;
  if (list !== null && list.length > 0 && list.every(isRecord)) return list;
  throw problem('data_invalid', {
    message: `${sourceName(source)} holds no customer data.`,
    fix: 'Use an object such as { "email": { "value": "ana@example.com" } }, or an array of them.',
  });
}

const listIn = (given: Record<string, unknown>): unknown[] | null => {
  const inner = Object.keys(given).length === 1 ? (given.data ?? given.items) : null;
  return Array.isArray(inner) ? inner : null;
};

function withFiles(item: Record<string, unknown>, folder: string, where: string): object {
  return Object.fromEntries(
    Object.entries(item).map(([kind, value]) => {
      const files = FILES[camelCase(kind)];
      return files && isRecord(value) ? [kind, filled(value, files, folder, `${where}${kind}`)] : [kind, value];
    }),
  );
}

function filled(
  value: Record<string, unknown>,
  files: Readonly<Record<string, string>>,
  folder: string,
  where: string,
): Record<string, unknown> {
  const whole = { ...value };
  for (const [name, given] of Object.entries(value)) {
    const hashName = files[camelCase(name)];
    if (hashName === undefined || typeof given !== 'string' || given === '') continue;
    const bytes = given.startsWith('@') ? fileBytes(resolve(folder, given.slice(1)), `${where}.${name}`) : null;
    if (bytes) whole[name] = bytes.toString('base64');
    const isHashed = Object.keys(value).some((other) => camelCase(other) === hashName);
    // Keeps a given hash: it says which bytes the customer meant.
    if (!isHashed) whole[hashName] = sha256(bytes ?? Buffer.from(given, 'base64'));
  }
  return whole;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function fileBytes(path: string, field: string): Buffer {
  try {
    const bytes = readBounded(path, { mostBytes: MOST_BYTES });
    if (bytes) return bytes;
    throw problem('data_invalid', {
      message: `The file of ${field} has more than ${MOST_BYTES / 1_048_576} MiB.`,
      fix: 'Use a smaller picture.',
    });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw problem('file_unreadable', {
      message: `The file of ${field}, ${path}, cannot be read.`,
      fix: 'Name it from the folder of the JSON file, such as "@passport.jpg".',
      cause: error,
    });
  }
}

/** `COMPLIANCE_STATUS_PENDING` reads as `Pending`. */
function complianceLine(status: ComplianceStatus, paint: Paint): string {
  const words = statusWords(status.replace('COMPLIANCE_STATUS_', ''));
  const isRejected = status === 'COMPLIANCE_STATUS_REJECTED';
  const style = status === 'COMPLIANCE_STATUS_SUCCESS' ? paint.good : isRejected ? paint.bad : paint.warn;
  return `Compliance  ${style(words)}`;
}

/** The first row in a pipe, with a name that no data type has. */
const statusRow = (status: ComplianceStatus): readonly string[] => ['COMPLIANCE_STATUS', status];

const requirementsView: View<GetOnboardingRequirementsResponse> = {
  lines: ({ requirements, complianceStatus }, { paint }) => [
    complianceLine(complianceStatus, paint),
    ...(requirements.length === 0
      ? ['Nothing is required.']
      : [
          '',
          ...listLines({ paint }, requirements, [
            { title: 'Required', cell: ({ dataRequirement: data }) => (data ? statusWords(data.type) : 'Terms') },
            {
              title: 'Given',
              cell: ({ dataRequirement: data }) => (data?.data?.length ? paint.good(`✓ ${data.data.length}`) : '–'),
            },
            {
              title: 'For',
              cell: ({ dataRequirement: data, attestationRequirement: attestation }) => {
                const { termsUrl, privacyPolicyUrl } = attestation?.terms ?? {};
                return data ? (data.config?.network ?? '') : [termsUrl, privacyPolicyUrl].filter(Boolean).join(' ');
              },
            },
          ]),
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
