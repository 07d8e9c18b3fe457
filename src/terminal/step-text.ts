import {
  createPrompt,
  isBackspaceKey,
  isEnterKey,
  makeTheme,
  useKeypress,
  usePrefix,
  useState,
} from '@inquirer/core';
import { useInput } from './step-input.ts';
import { keysText } from './step-keys.ts';
import type { StepAnswer, StepText } from './streams.ts';

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
  const shown =
    preset !== '' && value === '' ? `${theme.style.defaultAnswer(question.presetText ?? preset)} ` : '';
  return [
    `${asked} ${shown}${value}`,
    wrong === null ? theme.style.help(keysText('Enter answer', canGoBack)) : theme.style.error(wrong),
  ];
});
