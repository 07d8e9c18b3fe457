import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normaliseProtoJson } from '../../src/partner/http.ts';

/** ProtoJSON's forms made one (CONTRACT, section 10). */

const paths = (given: unknown) => normaliseProtoJson(given).issues.map(({ path }) => path);

describe('ProtoJSON', () => {
  test('snake_case and camelCase are the same field', () => {
    const { value, issues } = normaliseProtoJson({
      order_id: 'a',
      toAmount: '1',
      return_details: { refund_reference_id: 'r' },
      data: [{ street_line_1: 'x', street_line2: 'y' }],
    });
    expect(issues).toEqual([]);
    expect(value).toEqual({
      orderId: 'a',
      toAmount: '1',
      returnDetails: { refundReferenceId: 'r' },
      data: [{ streetLine1: 'x', streetLine2: 'y' }],
    });
  });

  test('null is unset, and an unknown field that is null is still to be named', () => {
    const { value } = normaliseProtoJson({ status: null, deposit_instructions: { iban: null } });
    expect(value).toEqual({ status: undefined, depositInstructions: { iban: undefined } });
    expect(Object.keys(value as object)).toContain('status');
  });

  test('one field under two names is refused, wherever it lies', () => {
    expect(paths({ order_id: 'a', orderId: 'a' })).toEqual(['orderId']);
    expect(paths({ orderId: 'a', order_id: null })).toEqual(['orderId']);
    expect(paths({ deposit_instructions: { bank_name: 'a', bankName: 'b' } })).toEqual([
      'deposit_instructions.bankName',
    ]);
  });

  test('a path is told in the words of who sent it', () => {
    const { asSent } = normaliseProtoJson({ deposit_instructions: { bank_name: 1, iban: 2 }, toAmount: 3 });
    expect(asSent(['depositInstructions', 'bankName'])).toBe('deposit_instructions.bank_name');
    expect(asSent(['depositInstructions', 'iban'])).toBe('deposit_instructions.iban');
    expect(asSent(['toAmount'])).toBe('toAmount');
    expect(asSent(['orderId'])).toBe('orderId');
  });

  test('text that no database keeps is refused: NUL, and half of a surrogate pair', () => {
    expect(paths({ reason: 'a\0b' })).toEqual(['reason']);
    expect(paths({ reason: '\ud800' })).toEqual(['reason']);
    expect(paths({ reason: '👍' })).toEqual([]);
  });

  test('what is nested without end is refused, not walked', () => {
    let deep: unknown = {};
    for (let i = 0; i < 10_000; i++) deep = [deep];
    expect(paths({ depositInstructions: deep })).toHaveLength(1);
  });

  test('a field named __proto__ is a field like any other', () => {
    const { value } = normaliseProtoJson(JSON.parse('{"__proto__":{"orderId":"x"}}'));
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect((value as { orderId?: string }).orderId).toBeUndefined();
  });

  test('whatever JSON comes, there is an answer, and camelCase JSON without null stays as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (given) => {
        const { value, issues } = normaliseProtoJson(given);
        if (issues.length === 0 && !/null|_/.test(JSON.stringify(given))) expect(value).toEqual(given);
      }),
    );
  });
});
