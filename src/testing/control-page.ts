// The page of an emulator: the chats of one person as she sees them, and what she can press and write. All chat
// platforms share one page, and their differences are data.

export interface ControlPlace {
  readonly id: string
  /** The text after "You are Kate, in". */
  readonly name: string
  /** True sends its id with her actions. Her own chat needs no id. */
  readonly isChannel?: true
}

export interface ControlPageOptions {
  /** The common name of the platform. */
  readonly platform: string
  readonly places: readonly ControlPlace[]
  /** The path that shows a chat, without its id. */
  readonly path: '/_chat/' | '/_channel/'
  /** The field for a reply to a clicked message. If absent, a click does nothing. */
  readonly answers?: 'thread' | 'reply_to'
}

export function controlPage({ platform, places, path, answers }: ControlPageOptions): string {
  const options = places.map(({ id, name }) => `<option value="${id}">${name}</option>`).join('')
  const channels = JSON.stringify(places.filter(({ isChannel }) => isChannel).map(({ id }) => id))
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${platform} emulator</title>
<style>
body{font:16px/1.4 system-ui,sans-serif;max-width:42rem;margin:1rem auto;padding:0 1rem;color-scheme:light dark}
#chat{display:flex;flex-direction:column;gap:.5rem;min-height:12rem}
.m{padding:.5rem .75rem;border-radius:.75rem;white-space:pre-wrap;max-width:85%;border:1px solid #8886;overflow-wrap:anywhere}
.me{align-self:flex-end;background:#8cf3}.t{margin-left:2rem}.note{opacity:.7;font-style:italic}
form,nav{display:flex;gap:.5rem;margin:1rem 0}input{flex:1;font:inherit;padding:.5rem}button,select{font:inherit;padding:.4rem .8rem}
</style>
<h1>${platform} emulator</h1>
<nav><label>You are Kate, in <select id="place">${options}</select></label></nav>
<div id="chat" aria-live="polite"></div>
<form id="say"><input id="text" aria-label="Message" placeholder="Message" autocomplete="off" autofocus><button>Send</button></form>
<script>
const chat = document.getElementById('chat'), text = document.getElementById('text'), place = document.getElementById('place')
const channels = ${channels}, answers = ${JSON.stringify(answers ?? null)}
const where = () => channels.includes(place.value) ? {channel: place.value} : {}
const person = (body) => fetch('/_person', {method:'POST', headers:{'content-type':'application/json'}, body: JSON.stringify({...where(), ...body})}).then(show)
let answered = {}
document.getElementById('say').onsubmit = (event) => { event.preventDefault(); if (text.value) person({text: text.value, ...answered}); text.value = ''; answered = {}; text.placeholder = 'Message' }
place.onchange = () => { last = ''; show() }
let last = ''
async function show() {
  const shown = await fetch('${path}' + place.value).then((r) => r.json())
  const now = JSON.stringify(shown)
  if (now === last) return
  last = now
  const line = (words, kind) => { const div = document.createElement('div'); div.className = 'm ' + kind; div.textContent = words; return div }
  const notes = [...(shown.notes || []).map((n) => '(only you) ' + n.text), ...(shown.status ? ['switchboard ' + shown.status] : [])]
  chat.replaceChildren(...shown.messages.map((m) => {
    const inThread = answers === 'thread' && m.thread
    const reactions = m.reactions || (m.reaction ? [m.reaction] : [])
    const div = line([m.text, ...reactions].join(' '), (m.from_bot ? '' : 'me') + (inThread ? ' t' : ''))
    const id = inThread || m.ts || m.id
    if (answers) {
      div.title = id + ' (click: answer this message)'
      div.onclick = () => { answered = {[answers]: id}; text.placeholder = 'Answer to ' + id; text.focus() }
    }
    for (const label of m.buttons) {
      const button = document.createElement('button')
      button.textContent = label
      button.onclick = (event) => { event.stopPropagation(); person({tap: label}) }
      div.append(document.createElement('br'), button)
    }
    return div
  }), ...notes.map((words) => line(words, 'note')))
}
setInterval(show, 500); show()
</script>`
}
