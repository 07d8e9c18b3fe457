import { describe, expect, test } from 'vitest';
import { checkRows } from '../../../src/cli/apply/check.ts';
import { readRows } from '../../../src/cli/apply/read.ts';

/** From the text of a file to updates, or to everything that is wrong with it. */

async function updates(text: string) {
  const { rows, issues } = await readRows(text);
  const { checked, issues: wrong } = checkRows(rows);
  expect([...issues, ...wrong]).toEqual([]);
  return checked;
}

async function issuesOf(text: string) {
  const { rows, issues } = await readRows(text);
  return [...issues, ...checkRows(rows).issues].map(({ row, line, field, message }) =>
    [`${row ?? '-'}:${line ?? '-'}`, field, message].filter(Boolean).join(' '),
  );
}

describe('a CSV file of a spreadsheet', () => {
  test('may name its delimiter on a first line, and end in columns without a name or a value', async () => {
    const text = 'sep=;\norder_id;source_transaction_id;;\nord_1;sepa-1;;\nord_2;sepa-2;;\n';
    expect(await updates(text)).toMatchObject([
      { row: 1, line: 3, update: { orderId: 'ord_1', sourceTransactionId: 'sepa-1' } },
      { row: 2, line: 4, update: { orderId: 'ord_2', sourceTransactionId: 'sepa-2' } },
    ]);
    const stray = await issuesOf('order_id,status,\nord_1,CANCELED,x\n');
    expect(stray.join('\n')).toContain('has no name');
  });

  test.each(['1.23457E+15', '1,23457e+15', '9E+18'])(
    '%s is a number that lost its digits, and no transaction id that stays for ever',
    async (id) => {
      expect(await issuesOf(`order_id;source_transaction_id\nord_1;${id}\n`)).toEqual([
        expect.stringMatching(/^1:2 sourceTransactionId was shortened by a spreadsheet/),
      ]);
    },
  );
});

describe('a CSV file', () => {
  test.each([
    ['camelCase', 'orderId,status,sourceTransactionId'],
    ['snake_case', 'order_id,status,source_transaction_id'],
    ['kebab-case', 'order-id,status,source-transaction-id'],
    ['spaced and capital', 'Order ID, Status ,Source Transaction Id'],
    ['behind a byte order mark', '\uFEFForderId,status,sourceTransactionId'],
  ])('names its columns in %s', async (_name, header) => {
    expect(await updates(`${header}\nord_1,FUNDS_RECEIVED,0xabc\n`)).toEqual([
      { row: 1, line: 2, update: { orderId: 'ord_1', status: 'FUNDS_RECEIVED', sourceTransactionId: '0xabc' } },
    ]);
  });

  test('may have quotes, quoted line breaks, CRLF, empty lines and empty cells', async () => {
    const text =
      'orderId,status,reason,customerFacingReason\r\nord_1,ERROR,"He said ""no"", twice","Line one\r\nline two"\r\n\r\nord_2,CANCELED,,\r\n';
    expect(await updates(text)).toEqual([
      {
        row: 1,
        line: 3,
        update: {
          orderId: 'ord_1',
          status: 'ERROR',
          reason: 'He said "no", twice',
          customerFacingReason: 'Line one\nline two',
        },
      },
      { row: 2, line: 5, update: { orderId: 'ord_2', status: 'CANCELED' } },
    ]);
  });

  test('puts the fields of groups into their groups, and may be separated by semicolons', async () => {
    const text =
      'order_id;deposit_instructions.iban;depositInstructions.bank_name;return-details-reason;to_amount\nord_1;DE89370400440532013000;Bank;late;1.50\n';
    expect((await updates(text))[0]?.update).toEqual({
      orderId: 'ord_1',
      depositInstructions: { iban: 'DE89370400440532013000', bankName: 'Bank' },
      returnDetails: { reason: 'late' },
      toAmount: '1.50',
    });
  });

  test('has a header with known columns, each of them once; its rows are checked all the same', async () => {
    expect(await issuesOf('orderId,stauts,toAmount,To Amount\nord_1,x,1,2\nord_2,x,1,z\n')).toEqual([
      '-:1 stauts is not a known field. Did you mean status?',
      '-:1 toAmount has two columns',
      expect.stringMatching(/^1:2 status is not one of/),
      expect.stringMatching(/^2:3 status is not one of/),
      expect.stringMatching(/^2:3 toAmount is not a decimal amount/),
    ]);
    expect(await issuesOf('ord_1,FUNDS_RECEIVED\n')).toContain(
      '-:1 orderId is missing: the first line must name the columns',
    );
  });

  test('tells each wrong row, also below a column that is not known or is misspelt', async () => {
    const text = [
      'order_id,status,toAmuont,refund_amount',
      'ord_1,,,',
      'ord_2,REFUNDING,,abc',
      'ord_3,REFUNDING,z,',
      ',CANCELED,,',
    ].join('\n');
    expect(await issuesOf(text)).toEqual([
      '-:1 toAmuont is not a known field. Did you mean toAmount?',
      '-:1 refund_amount is not a known field',
      '2:3 refund_amount is in a column that is not known',
      '1:2 names an order but no change',
      expect.stringMatching(/^3:4 toAmount is not a decimal amount/),
      '4:5 orderId is missing: the column order_id is empty in this row',
    ]);
    const many = Array.from({ length: 21 }, (_, row) => `ord_${row},CANCELED,note`).join('\n');
    expect(await issuesOf(`orderId,status,remark\n${many}`)).toEqual(['-:1 remark is not a known field']);
  });

  test.each(['id', 'order', 'Order-No', 'order_idd'])(
    'says that %s was probably meant to be the id, and checks the rows by it',
    async (name) => {
      expect(await issuesOf(`${name},status\nord_1,CANCELED\nord_2,x\n`)).toEqual([
        `-:1 ${name} is not a known field. Did you mean orderId?`,
        expect.stringMatching(/^2:3 status is not one of/),
      ]);
      const { issues } = await readRows(`${name},status\nord_1,CANCELED\n`);
      expect(issues).toMatchObject([{ line: 1, column: 1, value: name, corrected: 'orderId,status' }]);
    },
  );

  test('whose quote is not closed is refused with its line', async () => {
    const [issue] = await issuesOf('orderId,reason\nord_1,"open\nord_2,fine\n');
    expect(issue).toMatch(/is not CSV: a quote is not closed/);
  });
});

describe('an NDJSON file', () => {
  test('has an UpdateOrder on each line, in ProtoJSON names', async () => {
    const text =
      '{"orderId":"ord_1","status":"REFUNDING","returnDetails":{"refund_reference_id":"r1"},"reason":null}\n\n{"order_id":"ord_2","to_amount":"0.1"}';
    expect(await updates(text)).toEqual([
      {
        row: 1,
        line: 1,
        update: { orderId: 'ord_1', status: 'REFUNDING', returnDetails: { refundReferenceId: 'r1' } },
      },
      { row: 2, line: 3, update: { orderId: 'ord_2', toAmount: '0.1' } },
    ]);
  });

  test('tells what is wrong with every line at once', async () => {
    const text = [
      '{"orderId":"ord_1","status":"DONE"}',
      '{"orderId":"ord_2","statu":"ERROR"}',
      'not json',
      '{"orderId":"ord_3","toAmount":1.5}',
      '{"orderId":"ord_4","status":"ERROR"}',
      '{"status":"CANCELED"}',
      '{"orderId":"ord_5"}',
      '{"orderId":"ord_6","depositInstructions":"iban"}',
    ].join('\n');
    expect(await issuesOf(text)).toEqual([
      '2:2 statu is not a known field. Did you mean status?',
      '3:3 is not a JSON object',
      '8:8 depositInstructions is not an object',
      expect.stringMatching(/^1:1 status is not one of AWAITING_FUNDS, /),
      '4:4 toAmount is a number: write it in quotes',
      '5:5 reason is required when status is ERROR',
      '6:6 orderId is missing',
      '7:7 names an order but no change',
    ]);
  });

  test('gives each name once on a line, however it is spelled: of two, another reader sees the other', async () => {
    const text = [
      '{"orderId":"ord_1","status":"ERROR","reason":"r","status":"CANCELED"}',
      '{"orderId":"ord_1","orderId":"ord_2","status":"CANCELED"}',
      '{"orderId":"ord_1","returnDetails":{"reason":"a","reason":"b"}}',
      '{"orderId":"ord_1","st\\u0061tus":"ERROR","reason":"r","status":null}',
      '{"orderId":"ord_1","to_amount":"1","toAmount":"2"}',
      '{"orderId":"ord_1","returnDetails":{"reason":"a"},"return_details":{"refundReferenceId":"b"}}',
    ].join('\n');
    expect(await issuesOf(text)).toEqual([
      '1:1 status is given twice',
      '2:2 orderId is given twice',
      '3:3 returnDetails.reason is given twice',
      '4:4 status is given twice',
      '5:5 toAmount is given twice',
      '6:6 return_details is given twice',
    ]);
  });

  test('says what it may have meant, and what two names stand for', async () => {
    const text = [
      '{"orderId":"ord_1","status":"FUNDS_RECIEVED"}',
      '{"orderId":"ord_1","depositInstructions":{"reference":"a","depositMessage":"b"}}',
      '{"orderId":"ord_1","reason":" \u200b"}',
    ].join('\n');
    expect(await issuesOf(text)).toEqual([
      expect.stringMatching(/^1:1 status .* Did you mean FUNDS_RECEIVED\?$/),
      '2:2 depositInstructions.reference is another name for depositMessage: give only one of them',
      '3:3 reason is empty',
    ]);
  });

  test('shows a mistake where its field is written, in its group or outside of it', async () => {
    const text = [
      '{"orderId":"ord_1","return_details":{"note":"{\\"reason\\":","reason":"r"},"r\\u0065ason":" "}',
      '{"orderId":"ord_2","status":"ERROR","returnDetails":{"reason":"r"}}',
      '{"orderId":"ord_3","reason":"r","returnDetails":{"Reason":" "}}',
    ].join('\n');
    const { issues } = checkRows((await readRows(text)).rows);
    expect(issues.map(({ field, message, column }) => [field, message, column])).toEqual([
      ['reason', 'is empty', 74],
      ['reason', 'is required when status is ERROR', null],
      ['returnDetails.reason', 'is empty', 50],
    ]);
  });

  test('is not one JSON array', async () => {
    expect(await issuesOf('[{"orderId":"ord_1"}]')).toEqual([
      '-:- The file is one JSON array. Write one JSON object per line, or use CSV.',
    ]);
  });
});

test.each([
  ['-1', 'negative'],
  ['1e3', 'an exponent'],
  ['1,50', 'a comma'],
  ['1.', 'nothing behind the point'],
  ['1234567890123456789', '19 digits'],
  ['0.1234567890123456789', '19 decimals'],
])('the amount %s (%s) is refused before anything is sent', async (amount) => {
  const [issue] = await issuesOf(`{"orderId":"ord_1","toAmount":"${amount}"}`);
  expect(issue).toMatch(/toAmount is not a decimal amount/);
});

test('a status may be written in small letters', async () => {
  expect((await updates('order_id,status\nord_1,funds received\n'))[0]?.update.status).toBe('FUNDS_RECEIVED');
});

test('an empty file says so', async () => {
  expect(await issuesOf('\uFEFF \n')).toEqual(['-:- The file is empty.']);
});
