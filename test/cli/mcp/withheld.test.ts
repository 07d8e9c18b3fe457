import { expect, test } from 'vitest';
import { withheld } from '../../../src/cli/commands/mcp/answers.ts';
import { openArrivals } from '../../../src/cli/commands/mcp/run.ts';

test('a model sees no support code, however deep it lies: in a resumed payment, in an envelope, in a list', () => {
  const code = 'FLK-AAAA-BBBB-CCCC-DDDD';
  const shown = withheld({
    customer_support_code: code,
    answer: { intent: { intent_id: 'int_1', customer_support_code: code } },
    list: [{ customer_support_code: code }],
  });
  expect(JSON.stringify(shown)).not.toContain('FLK-');
  expect(shown).toMatchObject({ answer: { intent: { intent_id: 'int_1', customer_support_code: null } } });
});

test('what a call has paid for is finished once its answer has left, and not before', async () => {
  const finished: string[] = [];
  const arrivals = openArrivals(async (ids) => void finished.push(...ids));
  let leave: () => void = () => undefined;
  const transport = arrivals.over({
    start: async () => undefined,
    close: async () => undefined,
    send: () => new Promise((resolve) => (leave = resolve)),
  });
  arrivals.expect(7, ['pay_1']);
  const sent = transport.send({ jsonrpc: '2.0', id: 7, result: {} });
  expect(finished).toEqual([]);
  leave();
  await sent;
  expect(finished).toEqual(['pay_1']);
});
