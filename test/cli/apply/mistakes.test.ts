import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkRows } from '../../../src/cli/apply/check.ts';
import { correctedText, writeCorrected } from '../../../src/cli/apply/corrected.ts';
import { groupMistakes } from '../../../src/cli/apply/mistakes.ts';
import { readRows } from '../../../src/cli/apply/read.ts';

async function checked(text: string) {
  const read = await readRows(text);
  const { checked: rows, issues } = checkRows(read.rows);
  return { read, rows, issues: [...read.issues, ...issues] };
}

async function corrected(text: string) {
  const { read, issues } = await checked(text);
  return correctedText(text, read, issues);
}

const csv = (rows: readonly string[], header = 'order_id,status'): string => `${[header, ...rows].join('\n')}\n`;
const many = <T>(count: number, row: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => row(at + 1));

describe('mistakes are grouped', () => {
  const groupsOf = async (text: string) => groupMistakes((await checked(text)).issues);

  test('by field, message and value, the most frequent first, with the first ten rows of each', async () => {
    const rows = [
      ...many(3, (at) => `a_${at},DONE`),
      ...many(500, (at) => `b_${at},PAYMENT_PROCESED`),
      'c,DONE',
      ',ERROR',
    ];
    const { groups, firsts, moreGroups } = await groupsOf(csv(rows));
    expect(groups).toMatchObject([
      { count: 500, field: 'status', value: 'PAYMENT_PROCESED', rows: [4, 5, 6, 7, 8, 9, 10, 11, 12, 13], more: 490 },
      { count: 4, field: 'status', value: 'DONE', rows: [1, 2, 3, 504], more: 0 },
      { count: 1, field: 'orderId', rows: [505], more: 0 },
    ]);
    expect(groups[0]?.message).toMatch(/Did you mean PAYMENT_PROCESSED\?$/);
    expect(firsts.map(({ row, group }) => [row, group]).slice(0, 4)).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 0],
    ]);
    expect([firsts.length, moreGroups]).toEqual([15, 0]);
  });

  test('whatever their values, where these are many', async () => {
    const amounts = await groupsOf(
      csv(
        many(200, (at) => `a_${at},"1,${100 + at}.00"`),
        'order_id,to_amount',
      ),
    );
    expect(amounts.groups).toMatchObject([{ count: 200, field: 'toAmount', value: null }]);
    const repeated = await groupsOf(csv(many(60, () => 'a,CANCELED')));
    expect(repeated.groups).toMatchObject([
      { count: 59, message: 'repeats an earlier row: leave one of them out', value: 'a', more: 49 },
    ]);
  });

  test('into ten at most, with the number of the others', async () => {
    const rows = many(15, (kind) => kind).flatMap((kind) =>
      many(kind, (at) => JSON.stringify({ orderId: `o_${kind}_${at}`, status: 'CANCELED', [`colour_${kind}`]: 'x' })),
    );
    const { groups, firsts, moreGroups, moreMistakes } = await groupsOf(rows.join('\n'));
    expect(groups.map(({ count }) => count)).toEqual([15, 14, 13, 12, 11, 10, 9, 8, 7, 6]);
    expect([moreGroups, moreMistakes]).toEqual([5, 15]);
    expect(firsts.length).toBe(90);
  });
});

describe('a corrected file', () => {
  test('is the whole file with every certain correction, and passes the check', async () => {
    const rows = many(500, (at) => `rmp_${at},${at % 2 ? 'PAYMENT_PROCESED' : 'CANCELED'}`);
    const made = await corrected(csv(rows));
    expect(made).toMatchObject({ corrected: 250, left: 0, isMarked: false });
    const again = await checked(made?.text ?? '');
    expect(again.issues).toEqual([]);
    expect(again.rows.map(({ update: { orderId } }) => orderId)).toEqual(rows.map((row) => row.split(',')[0]));
    expect(again.rows.slice(0, 2)).toMatchObject([
      { update: { status: 'PAYMENT_PROCESSED' } },
      { update: { status: 'CANCELED' } },
    ]);
  });

  test.each([
    [
      'the delimiter, its line, quotes and line breaks',
      '\uFEFFsep=;\r\norder_id;status;reason\r\n\r\nord_1;ERROR;"a;\r\nb ""c"""\r\nord_2;CANCELD;\r\n',
    ],
    ['no line break at the end', 'order_id\tstatus\nord_1\tCANCELED\nord_2\tCANCELD'],
    [
      'NDJSON with digits that a number would lose',
      '{"orderId":"ord_1", "toAmount":"1.10"}\n\n{"orderId":"ord_2","status":"CANCELD"}\n',
    ],
  ])('leaves the other rows as they were written: %s', async (_what, text) => {
    expect((await corrected(text))?.text).toBe(text.replace('CANCELD', 'CANCELED'));
  });

  test('says in a first column what is wrong with the rows that it can not correct; the column is never sent', async () => {
    const text = 'order_id,status,to_amount\nord_1,CANCELD,x\nord_2,CANCELD,\nord_3,CANCELED,\n';
    const made = await corrected(text);
    expect(made).toMatchObject({ corrected: 1, left: 2, isMarked: true });
    const [header, first, ...rest] = made?.text.split('\n') ?? [];
    expect(header).toBe('mistake,order_id,status,to_amount');
    expect(first).toMatch(/^"status is not one of .* CANCELED\?; toAmount is not a decimal .*",ord_1,CANCELD,x$/);
    expect(rest).toEqual([',ord_2,CANCELED,', ',ord_3,CANCELED,', '']);

    const byHand = made?.text.replace('CANCELD,x', 'CANCELED,1.5') ?? '';
    const { rows, issues } = await checked(byHand);
    expect(issues).toEqual([]);
    expect(rows[0]?.update).toEqual({ orderId: 'ord_1', status: 'CANCELED', toAmount: '1.5' });
    expect(await corrected(made?.text ?? '')).toBeNull();
    expect((await corrected(byHand.replace('1.5', 'y')))?.text).toContain('\n"toAmount is not');
  });

  test('says it in a first field of NDJSON, and corrects no row that says something twice', async () => {
    const text = [
      '{"orderId":"ord_1","status":"ERROR","status":"CANCELD"}',
      '{"orderId":"ord_2","status":"CANCELD"}',
      '{"orderId":"ord_3","toAmount":1.10}',
      '{}',
      'no json',
    ].join('\n');
    const made = await corrected(text);
    expect(made?.text.split('\n')).toEqual([
      expect.stringMatching(
        /^\{"mistake":"status is given twice; .*","orderId":"ord_1","status":"ERROR","status":"CANCELD"\}$/,
      ),
      '{"orderId":"ord_2","status":"CANCELED"}',
      '{"mistake":"toAmount is a number: write it in quotes","orderId":"ord_3","toAmount":1.10}',
      '{"mistake":"orderId is missing"}',
      'no json',
    ]);
    expect((await checked('{"mistake":"was wrong","orderId":"a","status":"CANCELED"}')).rows[0]?.update).toEqual({
      orderId: 'a',
      status: 'CANCELED',
    });
    expect(await corrected(made?.text ?? '')).toBeNull();
    const { read, issues } = await checked(text);
    expect(correctedText(text, read, [...issues].reverse())).toMatchObject({ corrected: 1, left: 5 });
  });

  test('has marks that are no change of an order', async () => {
    for (const text of ['mistake,order_id\nwas wrong,ord_1\n', '{"mistake":"was wrong","orderId":"ord_1"}']) {
      expect((await checked(text)).issues).toMatchObject([{ message: 'names an order but no change' }]);
    }
  });

  test('corrects a column that is misspelt', async () => {
    expect(await corrected('order_id,stauts\nord_1,CANCELED\n')).toMatchObject({
      text: 'order_id,status\nord_1,CANCELED\n',
      corrected: 1,
      left: 0,
    });
  });

  test('is not made of a file that could not be read to its end', async () => {
    expect(await corrected('orderId,status,reason\na,CANCELD,\nb,CANCELED,"open\nc,CANCELED,\n')).toBeNull();
  });
});

describe('a corrected file is written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-corrected-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('beside the given one, over no other file, and once', () => {
    const file = join(folder, 'updates.csv');
    writeFileSync(file, 'mine');
    expect(writeCorrected(file, 'a')).toBe(join(folder, 'updates.corrected.csv'));
    expect(writeCorrected(file, 'a')).toBe(join(folder, 'updates.corrected.csv'));
    expect(writeCorrected(file, 'b')).toBe(join(folder, 'updates.corrected-2.csv'));
    expect(writeCorrected(join(folder, 'updates.corrected-2.csv'), 'c')).toBe(join(folder, 'updates.corrected-3.csv'));
    expect(readdirSync(folder).sort()).toEqual(
      ['updates.corrected-2.csv', 'updates.corrected-3.csv', 'updates.corrected.csv', 'updates.csv'].sort(),
    );
    expect(readFileSync(join(folder, 'updates.corrected.csv'), 'utf8')).toBe('a');
  });
});
