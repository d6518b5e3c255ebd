// Makes the pages quicker to use; every one of them works without it.
"use strict";

for (const element of document.querySelectorAll("[data-script]")) element.hidden = false;

// A form is sent once, however often somebody clicks. (The server would also count it once.)
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "yes";
    const button = event.submitter;
    if (button && button.dataset.busy) {
      button.setAttribute("aria-busy", "true");
      button.textContent = button.dataset.busy;
    }
  });
}
// A page taken from the browser's memory may be out of date, and its forms spent.
window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });

// 1, 2, … and = answer the question, while one of its answers has the focus; nothing else on the page reacts to a single key.
for (const form of document.querySelectorAll("form[data-choices]")) {
  form.addEventListener("keydown", (event) => {
    if (!event.target.matches("button[data-key]") || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const button = [...form.querySelectorAll("button[data-key]")].find((b) => b.dataset.key === event.key);
    if (button) { event.preventDefault(); button.click(); }
  });
}

// In a form of several parts Enter goes on to the next one.
for (const part of document.querySelectorAll(".parts:not(.whole) > .part")) {
  const next = part.querySelector("a.primary.turn, .turn > a.primary");
  if (next) part.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input, select")) { event.preventDefault(); next.click(); }
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand("copy"); }
    button.textContent = button.dataset.done;
  });
}
for (const button of document.querySelectorAll("[data-print]")) button.addEventListener("click", () => window.print());

// What if: ask for the score while somebody moves a slider.
for (const form of document.querySelectorAll("form[data-whatif]")) {
  const rest = JSON.parse(form.dataset.rest);
  const result = form.querySelector("[data-result]");
  let timer, latest = 0;
  const update = async () => {
    const turn = ++latest, subject = { ...rest };
    for (const field of form.querySelectorAll("[name^='f.']")) {
      const value = field.value;
      subject[field.name.slice(2)] = field.hasAttribute("data-number") ? Number(value) : value;
    }
    const answer = await fetch(`/api/v1/sessions/${form.dataset.token}/score`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ subject }),
    });
    if (turn !== latest) return;
    const found = await answer.json();
    const big = document.createElement("p"), words = document.createElement("p");
    if (answer.ok) {
      big.className = "big " + (found.accepted ? "yes" : "no");
      big.textContent = found.said;
      words.textContent = found.text;
      result.replaceChildren(big, words);
    } else {
      words.textContent = found.error;
      result.replaceChildren(words);
    }
  };
  form.addEventListener("input", (event) => {
    const output = form.querySelector(`[data-output="${CSS.escape(event.target.id)}"]`);
    // Spanish would write 3950 without its mark, which the page sets everywhere.
    const shown = Number(event.target.value).toLocaleString(form.dataset.language, { useGrouping: "always" });
    if (output) output.textContent = `${shown} ${output.dataset.unit}`;
    clearTimeout(timer);
    timer = setTimeout(update, 120);
  });
}
