import {
  createPrompt,
  isBackspaceKey,
  isEnterKey,
  makeTheme,
  useEffect,
  useKeypress,
  usePrefix,
  useState,
} from '@inquirer/core';
import type { StepAnswer, StepText } from './streams.ts';

/** The keys that a question names last, in the same words everywhere. */
export const keysText = (own: string, canGoBack: boolean): string =>
  [own, ...(canGoBack ? ['Esc back'] : []), 'Ctrl-C quit'].join(' · ');

/**
 * Keeps a question alive on its terminal. After Ctrl-Z and `fg` readline leaves its input paused, and the process would
 * end for want of work: the input is read again, and the question drawn again. Where the input ends (Ctrl-D, a terminal
 * that is gone), the question does.
 * @param ended called when no more can be typed
 */
export function useInput(ended: () => void): void {
  const [, setDrawn] = useState({});
  useEffect((readline) => {
    // Readline pauses in a listener of its own, which may come after this one.
    const goOn = () =>
      setImmediate(() => {
        readline.resume();
        setDrawn({});
      });
    readline.on('close', ended);
    process.on('SIGCONT', goOn);
    return () => {
      process.off('SIGCONT', goOn);
      readline.removeListener('close', ended);
    };
  }, []);
}

/** A line to type. Its keys stand under it, and in their place what is wrong with the answer. */
export const stepText = createPrompt<
  StepAnswer<string>,
  StepText & { readonly canGoBack: boolean; readonly ended: () => void }
>((question, done) => {
  const { message, mayBeEmpty, check, canGoBack } = question;
  useInput(question.ended);
  const theme = makeTheme({});
  const [isDone, setDone] = useState(false);
  const prefix = usePrefix({ theme, status: isDone ? 'done' : 'idle' });
  const [value, setValue] = useState('');
  const [preset, setPreset] = useState(question.preset ?? '');
  const [wrong, setWrong] = useState<string | null>(null);
  const [isChecking, setChecking] = useState(false);
  const judge = async (text: string): Promise<string | null> => {
    if (text === '' && mayBeEmpty) return null;
    return text === '' && canGoBack ? 'Type an answer, or press Esc to go back.' : check(text);
  };
  useKeypress(async (key, line) => {
    if (isChecking) return;
    if (key.name === 'escape') {
      if (canGoBack) done({ kind: 'back' });
    } else if (isEnterKey(key)) {
      const answer = (value || preset).trim();
      setChecking(true);
      const said = await judge(answer);
      if (said === null) {
        setValue(answer);
        setDone(true);
        return done({ kind: 'answer', value: answer });
      }
      // Enter has emptied the line: what was typed is corrected, not typed once more.
      line.write(value);
      setWrong(said);
      setChecking(false);
    } else if (isBackspaceKey(key) && value === '') setPreset('');
    else {
      setValue(line.line);
      setWrong(null);
    }
  });
  const asked = `${prefix} ${theme.style.message(message, 'idle')}`;
  if (isDone) return `${asked} ${theme.style.answer(value)}`.trimEnd();
  const shown = preset !== '' && value === '' ? `${theme.style.defaultAnswer(question.presetText ?? preset)} ` : '';
  return [
    `${asked} ${shown}${value}`,
    wrong === null ? theme.style.help(keysText('Enter answer', canGoBack)) : theme.style.error(wrong),
  ];
});
