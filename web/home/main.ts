// The scripts of the page GET /: search and theme.
import { mountHeader } from "../ui/header.ts";

mountHeader();
