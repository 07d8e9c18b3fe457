import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import type { BoardKey } from '../../../terminal/board.ts';
import type { RefundCaseSummary } from '../../../wire/flights/index.ts';
import { approvalLines, journeyText, mailLines } from '../../view/flights/refund.ts';
import {
  approvePrepared,
  checkRejection,
  type OwnAmount,
  prepareApproval,
} from '../refund-cases/deciding.ts';
import type { Desk, DeskPorts } from './desk.ts';

/** The keys of the live desk: the same acts as the commands, each after its question. */
export function pressAt(desk: Desk, ports: DeskPorts): (key: BoardKey) => void {
  const keys = { ...movingKeys(desk, ports), ...actingKeys(desk, ports) };
  return ({ name, typed }) => {
    const { mode } = desk.shown;
    switch (mode.kind) {
      case 'browsing':
        return keys[name]?.();
      case 'help':
        return desk.enter({ kind: 'browsing' });
      case 'writing':
        if (name === 'escape') return leaveAlone(desk);
        if (name !== 'return' && name !== 'enter') return desk.retype(typed);
        if (mode.typed.trim() !== '') desk.answer(mode.question, mode.typed.trim());
        return;
      case 'asking':
        if (name === 'y') return desk.answer(mode.doing, '');
        if (name === 'space') return desk.scroll(PAGE);
        if (['n', 'q', 'escape', 'return'].includes(name)) leaveAlone(desk);
        return;
      case 'busy':
        return;
    }
  };
}

type Keys = Readonly<Record<string, () => void>>;

const PAGE = 10;

function leaveAlone(desk: Desk): void {
  desk.say('Nothing changed.');
  desk.enter({ kind: 'browsing' });
}

function movingKeys(desk: Desk, { controls }: DeskPorts): Keys {
  const up = () => desk.move(-1);
  const down = () => desk.move(1);
  const back = () => desk.turnTo('queue');
  const open = () => desk.turnTo('case');
  return {
    up,
    k: up,
    down,
    j: down,
    pageup: () => desk.move(-PAGE),
    pagedown: () => desk.move(PAGE),
    return: open,
    right: open,
    left: back,
    escape: back,
    space: () => desk.scroll(PAGE),
    b: () => desk.scroll(-PAGE),
    g: () => desk.run('Reading the queue', desk.refresh),
    '?': () => desk.enter({ kind: 'help' }),
    q: controls.close,
  };
}

function actingKeys(desk: Desk, { operator, paint, signal }: DeskPorts): Keys {
  const options = { signal };
  /** For the selected case, whose pane comes to the front. */
  const on = (act: (id: string) => void) => () => {
    const { selected } = desk.shown;
    if (selected === null) return;
    desk.turnTo('case');
    act(selected);
  };
  const write = (question: string, then: (text: string) => Promise<void>) =>
    desk.enter({ kind: 'writing', question, typed: '' }, then);

  /** The effect of a yes, shown under the case that it is about. */
  const about =
    (one: RefundCaseSummary | undefined, lines: (width: number) => readonly string[]) => (width: number) => [
      ...(one ? [paint.bold(journeyText(one)), ''] : []),
      ...lines(width),
    ];

  const approve = async (id: string, own: OwnAmount): Promise<void> => {
    const prepared = await prepareApproval(operator, id, own, options);
    const carryOut = async () => desk.finish(await approvePrepared(operator, prepared, options), 'decided');
    const { plan } = prepared;
    if (plan === null) return carryOut();
    desk.enter(
      {
        kind: 'asking',
        question: `Pay out ${formatUsdc(BigInt(plan.payout_amount))} USDC?`,
        doing: 'Cancelling and paying out',
        lines: about(prepared.shown, (width) => approvalLines(plan, { width })),
      },
      carryOut,
    );
  };
  const reject = async (id: string, reason: string): Promise<void> => {
    const one = desk.shown.cases.find(({ request_id }) => request_id === id);
    const { mail } = await operator.planRejection(id, reason, options);
    desk.enter(
      {
        kind: 'asking',
        question: 'Reject the request?',
        doing: 'Rejecting',
        lines: about(one, (width) => mailLines(mail, { paint, width })),
      },
      async () => desk.finish(await operator.reject(id, reason, options), 'decided'),
    );
  };

  return {
    c: on((id) =>
      desk.run('Claiming', async () => desk.finish(await operator.claim(id, options), 'claimed')),
    ),
    u: on((id) =>
      desk.run('Giving it back', async () =>
        desk.finish(await operator.release(id, false, options), 'released'),
      ),
    ),
    n: on((id) =>
      write('Note', async (text) => desk.finish(await operator.note(id, text, options), 'noted')),
    ),
    a: on((id) => desk.run('Preparing the plan', () => approve(id, {}))),
    o: on((id) =>
      write('Pay out, in USDC', async (typed) => {
        const amount = parseUsdc(typed);
        write('Why, for the record', (note) => approve(id, { amount, note }));
      }),
    ),
    r: on((id) =>
      desk.run('Reading the case', async () => {
        await checkRejection(operator, id, options);
        write('Message to the customer', (reason) => reject(id, reason));
      }),
    ),
  };
}
