// The page of the emulator: a direct chat and a channel, as a person would see them.
export const CONTROL_PAGE = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Discord emulator</title>
<style>
body{font:16px/1.4 system-ui,sans-serif;max-width:42rem;margin:1rem auto;padding:0 1rem;color-scheme:light dark}
#chat{display:flex;flex-direction:column;gap:.5rem;min-height:12rem}
.m{padding:.5rem .75rem;border-radius:.75rem;white-space:pre-wrap;max-width:85%;border:1px solid #8886;overflow-wrap:anywhere}
.me{align-self:flex-end;background:#8cf3}.t{margin-left:2rem}.note{opacity:.7;font-style:italic}
form,nav{display:flex;gap:.5rem;margin:1rem 0}input{flex:1;font:inherit;padding:.5rem}button,select{font:inherit;padding:.4rem .8rem}
</style>
<h1>Discord emulator</h1>
<nav><label>You are Kate, in <select id="place"><option value="930000000000000001">the direct chat with the bot</option><option value="920000000000000001">#general (write @switchboard)</option></select></label></nav>
<div id="chat" aria-live="polite"></div>
<form id="say"><input id="text" aria-label="Message" placeholder="Message" autocomplete="off" autofocus><button>Send</button></form>
<script>
const chat = document.getElementById('chat'), text = document.getElementById('text'), place = document.getElementById('place')
const where = () => place.value.startsWith('92') ? {channel: place.value} : {}
const person = (body) => fetch('/_person', {method:'POST', headers:{'content-type':'application/json'}, body: JSON.stringify({...where(), ...body})}).then(show)
let replyTo
document.getElementById('say').onsubmit = (event) => { event.preventDefault(); if (text.value) person({text: text.value, reply_to: replyTo}); text.value = ''; replyTo = undefined; text.placeholder = 'Message' }
place.onchange = () => { last = ''; show() }
let last = ''
async function show() {
  const shown = await fetch('/_channel/' + place.value).then((r) => r.json())
  const now = JSON.stringify(shown)
  if (now === last) return
  last = now
  const line = (words, kind) => { const div = document.createElement('div'); div.className = 'm ' + kind; div.textContent = words; return div }
  chat.replaceChildren(...shown.messages.map((m) => {
    const div = line(m.text + (m.reactions ? ' ' + m.reactions.join(' ') : ''), m.from_bot ? '' : 'me')
    div.title = m.id + ' (click: answer this message)'
    div.onclick = () => { replyTo = m.id; text.placeholder = 'Answer to ' + m.id; text.focus() }
    for (const label of m.buttons) {
      const button = document.createElement('button')
      button.textContent = label
      button.onclick = (event) => { event.stopPropagation(); person({tap: label}) }
      div.append(document.createElement('br'), button)
    }
    return div
  }), ...shown.notes.map((n) => line('(only you) ' + n.text, 'note')))
}
setInterval(show, 500); show()
</script>`
