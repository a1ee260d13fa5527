(function(){
"use strict";
var d=document,$=function(i){return d.getElementById(i)};
var hash=location.hash.slice(1),pairs=new URLSearchParams(hash);
if(location.search||location.hash){history.replaceState(null,"",location.pathname)}
function once(n){var all=pairs.getAll(n);return all.length===1?all[0]:""}
function take(form){
if(!form||form.elements.token.value||!once("token")){return false}
form.elements.token.value=once("token");
if(form.elements.email){form.elements.email.value=once("email")}
["request","notice"].forEach(function(i){if($(i)){$(i).hidden=true}});
return true}
function validate(address,done){
if(!window.fetch||!window.AbortController){done(false);return}
var abort=new AbortController(),timer=setTimeout(function(){abort.abort()},5000),body={token:once("token")};
if(once("email")){body.email=once("email")}
fetch(address,{method:"POST",headers:{"Content-Type":"application/json"},body:JSON.stringify(body),credentials:"omit",cache:"no-store",redirect:"error",signal:abort.signal})
.then(function(r){return r.headers.get("X-Error-Code")==="AUTH_RESET_TOKEN_INVALID"},function(){return false})
.then(function(expired){clearTimeout(timer);done(expired)})}
var form=$("reset-form"),open=$("open-app"),taken=Array.prototype.filter.call(d.querySelectorAll("form[data-link]"),take);
if(taken.length&&open&&open.dataset.scheme){
open.href=open.dataset.scheme+"://"+open.dataset.page+"?token="+encodeURIComponent(once("token"))+(once("email")?"&email="+encodeURIComponent(once("email")):"");open.hidden=false}
taken.forEach(function(f){if(!f.dataset.validate){f.parentNode.hidden=false}});
if(taken.length&&!taken[0].dataset.validate){var field=taken[0].querySelector("input[type=password]");if(field){field.focus()}}
if(form&&form.dataset.validate&&taken.indexOf(form)>=0){
validate(form.dataset.validate,function(expired){
if(!expired){$("reset").hidden=false;form.elements.new_password.focus();return}
var request=$("request"),old=request.querySelector("h1"),heading=d.createElement("h2");
heading.textContent=form.dataset.again;
while(old.nextElementSibling.localName!=="form"){old.nextElementSibling.remove()}
old.replaceWith(heading);
d.title=d.title.replace(old.textContent,$("notice").querySelector("h1").textContent);
$("email").value=once("email");
$("notice").hidden=false;$("notice").setAttribute("role","alert");request.hidden=false})}
d.querySelectorAll("button.show").forEach(function(s){s.hidden=false;
s.addEventListener("click",function(){var i=$(s.dataset.for),on=i.type==="password";
i.type=on?"text":"password";s.textContent=on?s.dataset.hide:s.dataset.show;s.setAttribute("aria-pressed",String(on))})});
if(!form){return}
var a=form.elements.new_password,b=form.elements.confirm_password,t=form.dataset,submit=form.querySelector("button[type=submit]");
function count(s){return Array.from(window.Intl&&Intl.Segmenter?new Intl.Segmenter().segment(s):s).length}
function points(s){var n=0,l=count(s);
if(l>=8){n++}if(l>=12){n++}
if(/\p{Ll}/u.test(s)&&/\p{Lu}/u.test(s)){n++}if(/\p{Nd}/u.test(s)){n++}
if(/[!@#$%^&*()_+\-=\[\]{}|;:,.<>?]/.test(s)){n++}return n}
function look(){var n=points(a.value),l=a.value?(n<2?"weak":n<4?"medium":"strong"):"";
$("meter").dataset.level=l;$("strength").textContent=l?t[l]:"";
$("match").textContent=b.value?(a.value===b.value?t.match:t.differ):""}
function say(field,text){var p=$("problem");
if(!p){p=d.createElement("p");p.id="problem";p.className="problem";p.setAttribute("role","alert");form.insertBefore(p,form.firstElementChild)}
p.textContent=text;field.setAttribute("aria-invalid","true");
a.setAttribute("aria-describedby","problem rule strength");field.focus()}
$("meter").hidden=false;
a.addEventListener("input",look);b.addEventListener("input",look);
form.noValidate=true;
form.addEventListener("submit",function(e){
a.removeAttribute("aria-invalid");b.removeAttribute("aria-invalid");
var f=!a.value?[a,t.empty]:!b.value?[b,t.empty]:count(a.value)<Number(t.minimum)?[a,t.short]:a.value!==b.value?[b,t.differ]:null;
if(f){e.preventDefault();say(f[0],f[1]);return}
submit.disabled=true});
window.addEventListener("pageshow",function(){submit.disabled=false});
})();
