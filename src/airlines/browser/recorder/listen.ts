import { PAYS } from '../trial/index.ts';

/** Runs in every page of a recording: reports what a person does, and holds each press until it is written down. */
export const LISTEN = String.raw`(() => {
  const CARD = /\b(cc-|card|karte|carte|tarjeta|cvc|cvv|security code|prüfnummer|iban)/i;
  const SECRET = /passw|pwd|passcode|kennwort|contraseñ|mot de passe/i;
  const USER = /\b(user(name)?|login)\b/i;
  const PAYS = new RegExp(${JSON.stringify(PAYS.source)}, 'i');
  const CONTROLS =
    'button,a,summary,[role=button],[role=link],[role=option],[role=tab],[role=menuitem],[role=gridcell],input,select,textarea,label';
  const isButton = (of) => /^(submit|button|image|reset)$/.test(of.type);
  const isField = (of) =>
    (/^(INPUT|SELECT|TEXTAREA|OPTION)$/.test(of.tagName) && !isButton(of) && !of.readOnly) || of.isContentEditable;
  const textOf = (of) => (of.innerText ?? of.textContent ?? '').replace(/\s+/g, ' ').trim();
  const tagOf = (of) => of.tagName.toLowerCase();
  const said = (of) => of.getAttribute('aria-label') || of.getAttribute('title') || of.getAttribute('alt') || '';
  const labelled = (of) => [...(of.labels ?? [])].map(textOf).join(' ');
  const wordsOf = (of) => [of.autocomplete, of.name, of.id, of.placeholder, said(of), labelled(of)].join(' ');
  const isCard = (of) => CARD.test(wordsOf(of));
  const secrets = new WeakSet();
  const dialogOf = (of) => of.closest('dialog,[role=dialog],[role=alertdialog]');
  /** Dialogs that were filled in: they are not notices to clear away. */
  const forms = new WeakSet();
  const isSecret = (of) => of.type === 'password' || secrets.has(of) || SECRET.test(wordsOf(of));
  /** True for an account's user name, which is asked for right before its password. */
  const isUser = (of) => {
    if (of.tagName !== 'INPUT') return false;
    const all = [...(of.form ?? of.getRootNode()).querySelectorAll('input')].filter((one) =>
      /^(text|email|tel|password)$/.test(one.type),
    );
    const next = all[all.indexOf(of) + 1];
    return USER.test([of.autocomplete, of.name, of.id].join(' ')) || Boolean(next && isSecret(next) && !isCard(next));
  };
  let count = 0;
  const mark = (element) => {
    count += 1;
    const id = element.getAttribute('data-farelock-mark') ?? Date.now().toString(36) + '-' + count;
    element.setAttribute('data-farelock-mark', id);
    return id;
  };
  const quoted = (text) => JSON.stringify(text);
  /** The words before an element, and selectors that use them. */
  const beside = (of) => {
    for (let one = of, i = 0; one.parentElement && i < 4; one = one.parentElement, i += 1)
      for (let other = one.previousElementSibling; other; other = other.previousElementSibling) {
        const words = textOf(other);
        if (words === '' || words.length > 60) continue;
        const outer = tagOf(one.parentElement) + ':has(> ' + tagOf(other) + ':text-is(' + quoted(words) + ')) ';
        return { words, css: [outer + '> ' + (one === of ? tagOf(of) : tagOf(one) + ' ' + tagOf(of))] };
      }
    return { words: '', css: [] };
  };
  /** All that points at an element, apart from its role and name. */
  const known = (of, own) => {
    const near = beside(of);
    const { id, form } = of;
    const name = of.getAttribute('name');
    const words = own || labelled(of) || said(of) || of.placeholder || near.words;
    const inForm = (form ?? of.closest('form')) && !isField(of);
    return {
      mark: mark(of),
      words: words.slice(0, 60),
      placeholder: of.getAttribute('placeholder'),
      testId: of.getAttribute('data-testid'),
      css: [
        ...(/^[a-z][\w-]*$/i.test(id) && !/\d{3,}/.test(id) ? ['#' + id] : []),
        ...(name ? ['[name=' + quoted(name) + ']'] : []),
        ...near.css,
        ...(inForm && own ? ['form ' + tagOf(of) + ':text-is(' + quoted(own) + ')'] : []),
        ...(inForm && of.type === 'submit' ? ['form ' + tagOf(of) + '[type="submit"]'] : []),
      ],
    };
  };
  /** The list item that an element is in: the number of such items, and selectors of all of them. */
  const itemOf = (of) => {
    const bare = (one) => textOf(one).replace(/[\d.,]+/g, '');
    for (const isSame of [true, false]) {
      let path = '> ' + tagOf(of);
      for (let item = of.parentElement; item?.parentElement && item !== document.body; item = item.parentElement) {
        const like = [...item.parentElement.children].filter((one) => {
          const inner = one.tagName === item.tagName && one.querySelector(':scope ' + path);
          return inner && (!isSame || bare(inner) === bare(of));
        });
        const css = [];
        for (const name of item.classList)
          if (/flight|fare|card|item|result|offer|option|row|trip|journey|ticket/i.test(name) && !/\d|__|:/.test(name))
            css.push(tagOf(item) + '.' + name);
        const words = isSame && !/\d/.test(textOf(of)) && textOf(of);
        css.push(tagOf(item.parentElement) + ' > ' + tagOf(item) + ':has(' + path + (words ? ':text-is(' + quoted(words) + ')' : '') + ')');
        if (like.length > 1)
          return {
            css,
            count: like.length,
            testId: like.every((one) => one.dataset.testid === item.dataset.testid) ? item.dataset.testid : undefined,
            isAlone: item.querySelectorAll(tagOf(of)).length === 1,
          };
        path = '> ' + tagOf(item) + ' ' + path;
      }
    }
    return null;
  };
  const say = (what) => window.farelockSaw(what).catch(() => false);
  /** The element that an event presses, its words, and those close to it; null for a field, or nothing. */
  const pressedBy = (event) => {
    const path = event.composedPath().filter((one) => one instanceof Element);
    const [from] = path;
    if (!from) return null;
    const closest = from.closest(CONTROLS) ?? from;
    const pressed = (closest.tagName === 'LABEL' && closest.control) || closest;
    if (isField(pressed)) return null;
    const own = textOf(pressed) || (isButton(pressed) && pressed.value) || said(pressed);
    const isPlain = !pressed.matches(CONTROLS) || from.getRootNode() !== document;
    const all = [pressed, ...pressed.querySelectorAll('[alt],[title],[aria-label]'), ...(isPlain ? path : [])];
    const near = all
      .flatMap((one) => [textOf(one), said(one), (isButton(one) && one.value) || ''])
      .filter((one) => one.length < 60 || one === own)
      .join('\n');
    const isAimless = !pressed.matches(CONTROLS) && (own === '' || own.length > 60 || pressed.querySelector(CONTROLS));
    // A press on empty space is no step.
    if (isAimless && getComputedStyle(pressed).cursor !== 'pointer' && !PAYS.test(near)) return null;
    return { from: pressed === closest ? from : pressed, pressed, own, near };
  };
  let again = null;
  const hold = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener(
    'click',
    (event) => {
      const found = event === again ? null : pressedBy(event);
      if (!found) return;
      hold(event);
      const { from, pressed, own, near } = found;
      const dialog = dialogOf(pressed);
      const isInNotice = dialog !== null && !forms.has(dialog);
      void say({ kind: 'click', ...known(pressed, own), near, isInNotice, item: itemOf(pressed) }).then((passes) => {
        if (!passes) return;
        const { clientX, clientY, detail } = event;
        again = new MouseEvent('click', { bubbles: true, cancelable: true, composed: true, view: window, clientX, clientY, detail });
        from.dispatchEvent(again);
      });
    },
    true,
  );
  // Some buttons act before the click.
  for (const kind of ['pointerdown', 'mousedown', 'touchstart', 'pointerup', 'mouseup', 'touchend', 'keydown', 'keyup'])
    addEventListener(
      kind,
      (event) => {
        const found = !event.key || event.key === 'Enter' || event.key === ' ' ? pressedBy(event) : null;
        if (found && PAYS.test(found.near)) event.stopImmediatePropagation();
      },
      true,
    );
  addEventListener(
    'keydown',
    (event) => {
      const field = event.composedPath()[0];
      if (event.key !== 'Enter' || field.tagName !== 'INPUT' || !isField(field)) return;
      const { form } = field;
      // Enter clicks the form's button, which is reported by itself.
      if ([...(form?.elements ?? [])].some((one) => /^(submit|image)$/.test(one.type))) return;
      const mayPay = PAYS.test(textOf(form ?? document.body));
      if (mayPay) hold(event);
      if (mayPay || form) void say({ kind: 'enter', ...known(field), mayPay });
    },
    true,
  );
  addEventListener('input', ({ target }) => void (target?.type === 'password' && secrets.add(target)), true);
  addEventListener(
    'change',
    (event) => {
      const field = event.composedPath()[0];
      if (!(field instanceof Element)) return;
      const dialog = dialogOf(field);
      if (dialog) forms.add(dialog);
      const given = { ...known(field), isCard: isCard(field), item: itemOf(field) };
      if (field.tagName === 'SELECT')
        return void say({ ...given, kind: 'choose', value: field.value, label: field.selectedOptions[0]?.label ?? '' });
      if (field.type === 'checkbox') return void say({ ...given, kind: field.checked ? 'tick' : 'untick' });
      if (field.type === 'radio') return void say({ ...given, kind: 'tick' });
      const account = given.isCard ? undefined : isSecret(field) ? 'password' : isUser(field) ? 'user' : undefined;
      // Values of a person's own account stay in the page.
      void say({ ...given, kind: 'fill', account, value: account ? '' : (field.value ?? field.textContent) });
    },
    true,
  );
})();`;
