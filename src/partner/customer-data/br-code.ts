import { crc16 } from './check-digits.ts';
import { pixKey } from './pix-key.ts';
import { isWrong, normal, type Verdict, wrong } from './verdict.ts';

interface Field {
  readonly id: string;
  readonly value: string;
}

/**
 * A BR Code, the text behind a Pix QR code: EMV fields of two digits of id, two of length and a value, closed by
 * a CRC (Banco Central, Manual de Padrões para Iniciação do Pix; EMVCo merchant-presented mode). Checked are the
 * structure, the fields that the manual requires, the Pix account with its key, and the CRC. The text is kept as
 * it is but for space around it, since every character of it is under the CRC.
 */
export function brCode(pasted: string): Verdict {
  const text = pasted.trim();
  // EMV counts characters, banks count bytes: only where both agree does the CRC mean one thing.
  if (!/^[\x20-\x7e]+$/.test(text)) return wrong('must be plain ASCII text without line breaks.');
  if (!/6304[0-9A-F]{4}$/.test(text))
    return wrong('must end with 6304 and a CRC of four capital hex digits.');
  const crc = crc16(new TextEncoder().encode(text.slice(0, -4)), 0xffff);
  if (crc !== Number.parseInt(text.slice(-4), 16)) return wrong('has a CRC that does not match.');
  const fields = fieldsOf(text);
  if (fields === null) return wrong('is not a list of fields with two digits of id and two of length.');
  const problem = missingField(fields) ?? accountProblem(fields);
  return problem === null ? normal(text) : wrong(problem);
}

/** Null when a length is not a number, is zero, runs past the end, or an id comes twice. */
function fieldsOf(text: string): Field[] | null {
  const fields: Field[] = [];
  let rest = text;
  while (rest.length > 0) {
    const head = /^(\d\d)(\d\d)/.exec(rest);
    const length = Number(head?.[2] ?? 0);
    if (!head || length === 0 || rest.length < 4 + length) return null;
    const id = head[1] ?? '';
    if (fields.some((field) => field.id === id)) return null;
    fields.push({ id, value: rest.slice(4, 4 + length) });
    rest = rest.slice(4 + length);
  }
  return fields;
}

const REQUIRED: readonly (readonly [id: string, name: string, value: RegExp])[] = [
  ['52', 'merchant category', /^\d{4}$/],
  ['53', 'currency 986', /^986$/],
  ['58', 'country BR', /^BR$/],
  ['59', 'merchant name', /^.{1,25}$/],
  ['60', 'merchant city', /^.{1,15}$/],
  ['63', 'CRC', /^[0-9A-F]{4}$/],
];

function missingField(fields: readonly Field[]): string | null {
  const textOf = (id: string) => fields.find((field) => field.id === id)?.value;
  if (fields[0]?.id !== '00' || fields[0].value !== '01') return 'must begin with the payload format 000201.';
  for (const [id, name, form] of REQUIRED) {
    if (!form.test(textOf(id) ?? '')) return `has no valid field ${id} (${name}).`;
  }
  if (fields.at(-1)?.id !== '63') return 'must have its CRC as the last field.';
  if (!/^1[12]$/.test(textOf('01') ?? '11')) return 'has no valid field 01 (how often it can be paid).';
  const amount = textOf('54');
  if (amount !== undefined && !/^(?=.{1,13}$)\d+(\.\d{0,2})?$/.test(amount))
    return 'has no valid field 54 (amount).';
  return transactionIdProblem(textOf('62'));
}

function transactionIdProblem(additional: string | undefined): string | null {
  if (additional === undefined) return null;
  const txid = fieldsOf(additional)?.find((field) => field.id === '05')?.value;
  return txid !== undefined && !/^(\*\*\*|[A-Za-z0-9]{1,25})$/.test(txid)
    ? 'has no valid transaction id in field 62.'
    : null;
}

/** The Pix account is in one of the merchant account fields 26 to 51, as a key or as the address of a charge. */
function accountProblem(fields: readonly Field[]): string | null {
  const accounts = fields
    .filter(({ id }) => Number(id) >= 26 && Number(id) <= 51)
    .map(({ value }) => fieldsOf(value) ?? []);
  const pix = accounts.find((account) =>
    account.some(({ id, value }) => id === '00' && value.toLowerCase() === 'br.gov.bcb.pix'),
  );
  if (!pix) return 'has no Pix account (br.gov.bcb.pix) in a field from 26 to 51.';
  const key = pix.find(({ id }) => id === '01')?.value;
  const url = pix.find(({ id }) => id === '25')?.value;
  if ((key === undefined) === (url === undefined))
    return 'must name either a Pix key or the address of a charge.';
  if (key !== undefined && isWrong(pixKey(key))) return 'names a Pix key that is not valid.';
  if (url !== undefined && !/^[a-z0-9-]+(\.[a-z0-9-]+)+(:443)?\/\S+$/i.test(url)) {
    return 'names a charge whose address is not valid.';
  }
  return null;
}
