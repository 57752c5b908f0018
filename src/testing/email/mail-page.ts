// The page of the fake mail provider: Kate's mailbox, and a form to write to the bot. Plain HTML, no library.

export const MAIL_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mail emulator</title>
<style>
body{font:16px/1.4 system-ui,sans-serif;max-width:42rem;margin:1rem auto;padding:0 1rem;color-scheme:light dark}
.m{padding:.5rem .75rem;border-radius:.75rem;white-space:pre-wrap;border:1px solid #8886;overflow-wrap:anywhere;margin:.5rem 0}
.m b{display:block}form{display:grid;gap:.5rem;margin:1rem 0}input,textarea,button{font:inherit;padding:.4rem .6rem}
</style>
<h1>Mail emulator</h1>
<p>You are Kate (kate@home.test). What you write goes to the bot's mailbox; below is what came back.</p>
<form id="write"><input id="subject" aria-label="Subject" placeholder="Subject (empty: answer the newest mail)"><textarea id="text" aria-label="Text" rows="4" placeholder="Text"></textarea><button>Send</button></form>
<div id="mails" aria-live="polite"></div>
<script>
const subject = document.getElementById('subject'), text = document.getElementById('text'), mails = document.getElementById('mails')
document.getElementById('write').onsubmit = (event) => {
  event.preventDefault()
  if (!text.value) return
  const body = subject.value ? {text: text.value, subject: subject.value, fresh: true} : {text: text.value}
  fetch('/_person', {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify(body)}).then(show)
  text.value = ''
}
let last = ''
async function show() {
  const now = await fetch('/_mailbox/kate@home.test').then((r) => r.text())
  if (now === last) return
  last = now
  mails.replaceChildren(...JSON.parse(now).mails.reverse().map((mail) => {
    const div = document.createElement('div'), head = document.createElement('b')
    div.className = 'm'
    head.textContent = mail.subject
    div.append(head, mail.text + (mail.files.length ? '\\n[' + mail.files.join(', ') + ']' : ''))
    return div
  }))
}
setInterval(show, 500); show()
</script>`
