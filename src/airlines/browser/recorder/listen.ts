/** Runs in every page of a recording: reports what a person does, and holds each press until it is written down. */
export const LISTEN = String.raw`(() => {
  let count = 0;
  const CARD = /\b(cc-|card|karte|carte|tarjeta|cvc|cvv|security code|prüfnummer|iban)/i;
  const isField = (of) =>
    (/^(INPUT|SELECT|TEXTAREA|OPTION)$/.test(of.tagName) &&
      !/^(submit|button|image|reset)$/.test(of.type) &&
      !of.readOnly) ||
    of.isContentEditable;
  const labelled = (of) => [...(of.labels ?? [])].map((label) => label.textContent).join(' ');
  const isCard = (of) => CARD.test([of.autocomplete, of.name, of.id, of.placeholder, labelled(of)].join(' '));
  const around =
    'fieldset,article,li,form,section,dialog,[role=group],[role=region],[role=article],[role=listitem],[role=dialog],[role=row],[role=list],[role=radiogroup],ul,ol';
  /** Marks an element and what is around it, so that they can be pointed at. */
  const mark = (element) => {
    count += 1;
    const id = Date.now().toString(36) + '-' + count;
    element.setAttribute('data-farelock-mark', id);
    let outer = element.parentElement?.closest(around) ?? null;
    for (let i = 0; outer && i < 8; i += 1, outer = outer.parentElement?.closest(around) ?? null)
      outer.setAttribute('data-farelock-around-' + i, id);
    return id;
  };
  const say = (what) => window.farelockSaw(what).catch(() => undefined);
  addEventListener(
    'click',
    (event) => {
      const from = event.composedPath()[0];
      if (!(from instanceof Element)) return;
      const pressed =
        from.closest(
          'button,a,summary,[role=button],[role=link],[role=option],[role=tab],[role=menuitem],[role=gridcell],input,select,textarea,label',
        ) ?? from;
      const control = pressed.tagName === 'LABEL' ? pressed.control : pressed;
      if (!control || isField(control) || pressed.hasAttribute('data-farelock-pass')) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      void say({ kind: 'click', mark: mark(pressed) });
    },
    true,
  );
  addEventListener(
    'change',
    (event) => {
      const field = event.composedPath()[0];
      if (!(field instanceof Element)) return;
      const given = { mark: mark(field), isCard: isCard(field) };
      if (field.tagName === 'SELECT')
        return void say({ ...given, kind: 'choose', value: field.value, label: field.selectedOptions[0]?.label ?? '' });
      if (field.type === 'checkbox') return void say({ ...given, kind: field.checked ? 'tick' : 'untick' });
      if (field.type === 'radio') return void say({ ...given, kind: 'tick' });
      void say({ ...given, kind: 'fill', value: field.value ?? field.textContent });
    },
    true,
  );
})();`;
