// Entry of the chat page.
import { render } from 'preact'
import '../shared/theme.css'
import './chat.css'
import { App } from './app.tsx'
import { createSession } from './session.ts'

const root = document.getElementById('app')
if (root !== null) {
  const session = createSession()
  render(<App session={session} />, root)
  void session.start()
  // A link that is pasted into the open page changes only the part behind the #, so the browser does not load the page.
  addEventListener('hashchange', () => {
    if (new URLSearchParams(location.hash.slice(1)).has('ticket')) location.reload()
  })
}
