// The page of the emulator: one chat, as a person would see it.
export const CONTROL_PAGE = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>WhatsApp emulator</title>
<style>
body{font:16px/1.4 system-ui,sans-serif;max-width:42rem;margin:1rem auto;padding:0 1rem;color-scheme:light dark}
#chat{display:flex;flex-direction:column;gap:.5rem;min-height:12rem}
.m{padding:.5rem .75rem;border-radius:.75rem;white-space:pre-wrap;max-width:85%;border:1px solid #8886}
.me{align-self:flex-end;background:#8cf3}.id{opacity:.6;font-size:.75rem}
form{display:flex;gap:.5rem;margin:1rem 0}input{flex:1;font:inherit;padding:.5rem}button{font:inherit;padding:.4rem .8rem}
</style>
<h1>WhatsApp emulator</h1>
<p>You are Kate, in a chat with the business.</p>
<div id="chat" aria-live="polite"></div>
<form id="say"><input id="text" aria-label="Message" placeholder="Message" autocomplete="off" autofocus><button>Send</button></form>
<script>
const chat = document.getElementById('chat'), text = document.getElementById('text')
const person = (body) => fetch('/_person', {method:'POST', headers:{'content-type':'application/json'}, body: JSON.stringify(body)}).then(show)
document.getElementById('say').onsubmit = (event) => { event.preventDefault(); if (text.value) person({text: text.value}); text.value = '' }
let last = ''
async function show() {
  const shown = await fetch('/_chat/4915112345678').then((r) => r.json())
  const now = JSON.stringify(shown)
  if (now === last) return
  last = now
  chat.replaceChildren(...shown.messages.map((m) => {
    const div = document.createElement('div')
    div.className = 'm ' + (m.from_bot ? '' : 'me')
    div.textContent = m.text + (m.reaction ? ' ' + m.reaction : '')
    for (const label of m.buttons) {
      const button = document.createElement('button')
      button.textContent = label
      button.onclick = () => person({tap: label})
      div.append(document.createElement('br'), button)
    }
    return div
  }))
}
setInterval(show, 500); show()
</script>`
