import { isChoice, type ListState, newListState, stepList } from './step-list.ts';
import { stepText } from './step-text.ts';
import type { StepAnswer, StepChoice, StepPrompts } from './streams.ts';

/** Asks one question; an interruption of it is a problem. */
export type Asks = <T>(ask: () => Promise<T>) => Promise<T>;

interface PromptContext {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
  /** True in a walk. An answered question then leaves the screen: the walk says in a line of its own what was answered. */
  readonly canGoBack: boolean;
}

const CYAN = '\u001b[36m';
const NO_CYAN = '\u001b[39m';
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/** Questions on a terminal. Where one may go back, Esc does, and ← too where there is nothing to type. */
export function stepPrompts({ input, output, signal, canGoBack }: PromptContext, asked: Asks): StepPrompts {
  const context = { input, output, clearPromptOnDone: canGoBack };
  const highlight = (text: string) =>
    output.hasColors?.() === true ? `${CYAN}${text.replaceAll(NO_CYAN, CYAN)}${NO_CYAN}` : text;

  /** Until it is answered: a change of the terminal's size asks the same question anew, as it stands. */
  async function choose<T>(question: StepChoice<T>, state?: ListState): Promise<StepAnswer<T>> {
    const size = { rows: output.rows ?? 24, columns: output.columns ?? 80 };
    const now = state ?? newListState(question, size.rows);
    const resized = new AbortController();
    const resize = () => resized.abort();
    output.on('resize', resize);
    const ended = new AbortController();
    try {
      const answer = await stepList(
        { choice: question, state: now, size, highlight, canGoBack, ended: () => ended.abort() },
        { ...context, signal: AbortSignal.any([signal, resized.signal, ended.signal]) },
      );
      if (answer.kind === 'back') return answer;
      const line = (question.redrawn?.() ?? question).lines[answer.value];
      return isChoice(line) ? { kind: 'answer', value: line.value } : { kind: 'back' };
    } catch (error) {
      if (!resized.signal.aborted || signal.aborted || ended.signal.aborted) throw error;
    } finally {
      output.off('resize', resize);
    }
    // How many lines the old question takes now, only the terminal knows: the screen begins anew.
    output.write(CLEAR_SCREEN);
    question.cleared?.();
    return choose({ ...question, ...question.redrawn?.() }, now);
  }

  return {
    text(question) {
      const ended = new AbortController();
      return asked(() =>
        stepText(
          { ...question, canGoBack, ended: () => ended.abort() },
          { ...context, signal: AbortSignal.any([signal, ended.signal]) },
        ),
      );
    },
    choose: (question) => asked(() => choose(question)),
  };
}
