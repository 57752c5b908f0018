// Entry of the console.
import { render } from 'preact'
import '../shared/theme.css'
import './console.css'
import './lists.css'
import { App } from './app.tsx'

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
