(function(){
"use strict";
var menu=document.querySelector("nav details");
if(matchMedia("(max-width:999px)").matches){menu.open=false;
menu.addEventListener("click",function(e){if(e.target.closest("a")){menu.open=false}})}
if(!navigator.clipboard){return}
document.querySelectorAll("pre.call").forEach(function(call){
var text=call.textContent,button=document.createElement("button");
button.type="button";button.className="copy";button.textContent="Copy";
button.addEventListener("click",function(){navigator.clipboard.writeText(text).then(function(){
button.textContent="Copied";setTimeout(function(){button.textContent="Copy"},1500)})});
call.previousElementSibling.appendChild(button)})
})();
